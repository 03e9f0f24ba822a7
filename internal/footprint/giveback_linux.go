package footprint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// GiveBack unmaps the pages of the program's own file that this process has
// looked at and not written, and returns how many bytes they were. They come
// back one by one as they are used.
func GiveBack() (int64, error) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return 0, fmt.Errorf("find the program's file: %w", err)
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return 0, fmt.Errorf("read what is mapped: %w", err)
	}
	var sum int64
	for _, a := range areas(text) {
		if !a.isOnly(program) {
			continue
		}
		if a.rights == "r--p" { // tables are read here and there: no 2 MiB for each look
			a.advise(syscall.MADV_NOHUGEPAGE)
		}
		code := a.advise(syscall.MADV_DONTNEED)
		switch {
		case code == 0:
			sum += a.resident
		case !errors.Is(code, syscall.EINVAL): // pages that are locked stay (madvise(2))
			return sum, fmt.Errorf("give pages back: %w", code)
		}
	}
	return sum, nil
}

// area is one mapping of this process (proc_pid_smaps(5)).
type area struct {
	start, end uintptr
	rights     string // as in "r-xp"
	file       string
	resident   int64 // bytes
	written    int64 // bytes of pages that are not the file's any more; -1 where it was not said
}

// advise says something of the area to the system (madvise(2)).
func (a area) advise(what uintptr) syscall.Errno {
	_, _, code := syscall.Syscall(syscall.SYS_MADVISE, a.start, a.end-a.start, what)
	return code
}

// isOnly: it shows the file, unwritten and unwritable. Where a page was
// written before its rights were taken, as a loader does that relocates, it is
// the process's own, and the file does not have it.
func (a area) isOnly(file string) bool {
	return a.file == file && (a.rights == "r-xp" || a.rights == "r--p") && a.written == 0
}

// areas reads a list of mappings. A line that says nothing known is passed over.
func areas(text []byte) []area {
	var all []area
	for line := range bytes.Lines(text) {
		if a, ok := header(string(line)); ok {
			all = append(all, a)
			continue
		}
		name, size, _ := strings.Cut(string(line), ":")
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(size), " kB"), 10, 64)
		if err != nil || len(all) == 0 {
			continue
		}
		switch last := &all[len(all)-1]; name {
		case "Rss":
			last.resident = n << 10
		case "Anonymous":
			last.written = n << 10
		}
	}
	return all
}

// header reads a line such as "00400000-0151c000 r-xp 00000000 fe:00 123 /bin/x".
func header(line string) (area, bool) {
	fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 6)
	from, to, is := strings.Cut(fields[0], "-")
	if !is || len(fields) < 6 {
		return area{}, false
	}
	start, err1 := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	if errors.Join(err1, err2) != nil || end < start {
		return area{}, false
	}
	return area{start: uintptr(start), end: uintptr(end), rights: fields[1], file: strings.TrimLeft(fields[5], " "), written: -1}, true
}

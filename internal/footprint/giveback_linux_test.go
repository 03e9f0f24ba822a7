package footprint_test

import (
	"bytes"
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/footprint"
)

const listing = `00400000-0151c000 r-xp 00000000 fe:00 10438094                           /bin/verbatim
Size:              17520 kB
Rss:               15016 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
0151c000-028ed000 r--p 0111c000 fe:00 10438094                           /bin/verbatim
Rss:               13508 kB
Anonymous:             0 kB
028ed000-029a4000 rw-p 024ed000 fe:00 10438094                           /bin/verbatim
Rss:                 540 kB
Anonymous:             0 kB
029b0000-029c0000 r--p 024ed000 fe:00 10438094                           /bin/verbatim
Rss:                  64 kB
Anonymous:             4 kB
029c0000-029d0000 r--p 024ed000 fe:00 10438094                           /bin/verbatim
Rss:                  64 kB
029d0000-029e0000 r-xp 00000000 fe:00 10438094                           /bin/verbatim (deleted)
Rss:                  64 kB
Anonymous:             0 kB
029e0000-029f0000 r--s 00000000 fe:00 10438094                           /bin/verbatim
Rss:                  64 kB
Anonymous:             0 kB
2d1ced400000-2d1cedc00000 rw-p 00000000 00:00 0
Rss:                5680 kB
Anonymous:          5680 kB
7f93aa864000-7f93aa8b7000 r--p 00000000 fe:00 7                          /home/a b/verbatim.db-shm
Rss:                 296 kB
Anonymous:             0 kB
`

func TestGivenBackIsOnlyWhatIsEqualToTheFile(t *testing.T) {
	t.Parallel()
	for program, want := range map[string][]uintptr{
		"/bin/verbatim":           {0x400000, 0x151c000},
		"/bin/verbatim (deleted)": {0x29d0000}, // replaced while it runs
		"/bin/other":              nil,
		"":                        nil,
	} {
		if diff := cmp.Diff(want, footprint.Given(listing, program)); diff != "" {
			t.Errorf("%s: %s", program, diff)
		}
	}
}

// The file's pages go, and come back as the file has them. The pages of a
// second view of the program are held against it: nobody but this test reads it.
func TestGivenBackPagesComeBack(t *testing.T) {
	t.Parallel()
	file, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const size = 1 << 20
	want := make([]byte, size)
	if _, err := file.ReadAt(want, 0); err != nil {
		t.Fatal(err)
	}
	view, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(view); err != nil {
			t.Error(err)
		}
	}()
	at := uintptr(unsafe.Pointer(&view[0]))
	if !bytes.Equal(view, want) || resident(t, at) == 0 {
		t.Fatal("a view of the program does not show it")
	}
	if sum, err := footprint.GiveBack(); err != nil || sum < size {
		t.Fatalf("%d bytes were given back: %v", sum, err)
	}
	if n := resident(t, at); n != 0 {
		t.Errorf("%d bytes that nobody uses are still there", n)
	}
	if !bytes.Equal(view, want) {
		t.Error("what came back is not what the file has")
	}
}

// resident is how many bytes are there of the area that begins at an address.
func resident(t *testing.T, at uintptr) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	return footprint.ResidentAt(string(text), at)
}

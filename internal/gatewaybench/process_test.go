//go:build bench && linux

package gatewaybench_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What a process of this program is, and what stands behind it over HTTP.
const (
	roleVar   = "VERBATIM_BENCH_ROLE"
	behindVar = "VERBATIM_BENCH_BEHIND"
	dirVar    = "VERBATIM_BENCH_DIR"
	quietVar  = "VERBATIM_BENCH_QUIET" // it has no files 3 and 4
)

func TestMain(m *testing.M) {
	kind, name, isRole := strings.Cut(os.Getenv(roleVar), ":")
	if !isRole {
		os.Exit(run(m))
	}
	if os.Getenv(quietVar) == "" {
		go tellMemory()
	}
	var err error
	if kind == "http" {
		err = serveHTTP(name, os.Getenv(behindVar))
	} else {
		err = stdioRoles[name](pipe{os.Stdin, os.Stdout}, func() pipe {
			server := "server"
			if behind := os.Getenv(behindVar); behind != "" {
				server = behind
			}
			p, err := start("stdio:"+server, "")
			if err != nil {
				panic(err)
			}
			return p.pipe
		})
	}
	if err != nil && err != io.EOF {
		fmt.Fprintln(os.Stderr, os.Getenv(roleVar), err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run keeps stores, and the file that syncs are compared with, in one place.
func run(m *testing.M) int {
	if os.Getenv(dirVar) == "" {
		dir, err := os.MkdirTemp("", "gatewaybench-*")
		if err == nil {
			err = os.Setenv(dirVar, dir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
	}
	return m.Run()
}

// tellMemory answers each byte on file 3 with the bytes allocated so far.
func tellMemory() {
	in, out := os.NewFile(3, "ask"), os.NewFile(4, "tell")
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(in, one); err != nil {
			return
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if err := binary.Write(out, binary.LittleEndian, m.TotalAlloc); err != nil {
			return
		}
	}
}

// process is one of ours.
type process struct {
	pipe
	cmd       *exec.Cmd
	ask, tell *os.File
}

// start starts this program in a role.
func start(role, behind string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), roleVar+"="+role, behindVar+"="+behind)
	p.cmd.Stderr = os.Stderr
	var theirAsk, theirTell *os.File
	if theirAsk, p.ask, err = os.Pipe(); err != nil {
		return nil, err
	}
	if p.tell, theirTell, err = os.Pipe(); err != nil {
		return nil, err
	}
	p.cmd.ExtraFiles = []*os.File{theirAsk, theirTell}
	if p.pipe.out, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.pipe.in, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err = p.cmd.Start(); err == nil {
		err = theirAsk.Close()
	}
	if err == nil {
		err = theirTell.Close()
	}
	return p, err
}

func started(t *testing.T, role, behind string) *process {
	t.Helper()
	p, err := start(role, behind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.pipe.out.Close()
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p
}

// startedHTTP also returns where the process listens.
func startedHTTP(t *testing.T, role, behind string) (*process, string) {
	t.Helper()
	p := started(t, "http:"+role, behind)
	line, err := bufio.NewReader(p).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return p, strings.TrimSpace(line)
}

// allocated is how many bytes the process has allocated so far.
func (p *process) allocated(t *testing.T) uint64 {
	t.Helper()
	var n uint64
	_, err := p.ask.Write([]byte{1})
	if err == nil {
		err = binary.Read(p.tell, binary.LittleEndian, &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// cpu is the processor time of all threads of the process so far. Unlike the
// clock it hardly depends on what else the machine does.
func (p *process) cpu(t *testing.T) (sum time.Duration) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range tasks {
		if text, err := os.ReadFile(at); err == nil { // a thread may have ended
			ns, _, _ := strings.Cut(string(text), " ")
			n, _ := strconv.ParseInt(ns, 10, 64)
			sum += time.Duration(n)
		}
	}
	return sum
}

// used is cpu, as a subject has it.
func (p *process) used(t *testing.T) func() time.Duration {
	return func() time.Duration { return p.cpu(t) }
}

// resident is the memory of a process in KiB: all of it, with the pages of the
// program's file, and its own.
func resident(t *testing.T, pid int) (all, own int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		switch n, _ := strconv.Atoi(fields[1]); fields[0] {
		case "VmRSS:":
			all = n
		case "RssAnon:":
			own = n
		}
	}
	return all, own
}

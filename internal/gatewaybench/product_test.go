//go:build bench && linux

package gatewaybench_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// product is the program as it is shipped, with a home of its own.
type product struct{ bin, home string }

func newProduct(t *testing.T) product {
	t.Helper()
	p := product{filepath.Join(t.TempDir(), "verbatim"), filepath.Join(t.TempDir(), "home")}
	if err := os.Mkdir(p.home, 0o700); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", p.bin, "../../cmd/verbatim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if dir := os.Getenv("VERBATIM_BENCH_SOURCE"); dir != "" {
		build.Dir = dir
	}
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		stop := exec.Command(p.bin, "stop")
		stop.Env = p.env()
		_ = stop.Run()
	})
	return p
}

func (p product) env() []string {
	return append(os.Environ(), "VERBATIM_HOME="+p.home, roleVar+"=stdio:server", quietVar+"=1")
}

// wrap starts a client's side before our server.
func (p product) wrap(t *testing.T) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &process{cmd: exec.Command(p.bin, "wrap", "--name", "s", "--trust-read-hints", "--", self)}
	w.cmd.Env, w.cmd.Stderr = p.env(), os.Stderr
	if w.pipe.out, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if w.pipe.in, err = w.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.pipe.out.Close()
		_ = w.cmd.Wait()
	})
	return w
}

// daemon is the process behind all wraps.
func (p product) daemon(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.home, "daemon.json"))
	var state struct{ PID int }
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil || state.PID == 0 {
		t.Fatalf("%v: %s", err, text)
	}
	return state.PID
}

// TestProduct measures the whole way, with the pipe and the daemon that a
// user has: two processes where the others have one.
func TestProduct(t *testing.T) {
	p := newProduct(t)
	begin := func() (caller, time.Duration) {
		start := time.Now()
		call := lineClient(t, p.wrap(t).pipe, "look", legacy)
		if err := call(); err != nil {
			t.Fatal(err)
		}
		return call, time.Since(start)
	}
	call, cold := begin()
	_, warm := begin()
	pid := p.daemon(t)
	time.Sleep(2 * time.Second)
	idle, idleOwn := resident(t, pid)
	var times []time.Duration
	for range 4000 {
		start := time.Now()
		if err := call(); err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	if err := manyLines(t, p.wrap(t).pipe, "look", 64)(20000); err != nil {
		t.Fatal(err)
	}
	loaded, loadedOwn := resident(t, pid)
	slices.Sort(times)
	fmt.Printf("\nthe program itself: first answer %d ms after wrap starts without a daemon, %d ms with one; a call through wrap and daemon p50 %.0f us;\n"+
		"the daemon holds %.1f MiB idle with two clients, %.1f MiB of them its own and the rest pages of the program's file; after 24,000 calls %.1f and %.1f MiB\n",
		cold.Milliseconds(), warm.Milliseconds(), us(times[len(times)/2]), float64(idle)/1024, float64(idleOwn)/1024, float64(loaded)/1024, float64(loadedOwn)/1024)
}

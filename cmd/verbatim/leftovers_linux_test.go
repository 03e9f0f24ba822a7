package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// G21: servers piled up on each reconnect, and killing only the program that
// was started left its children.
func TestG21ReconnectsLeaveNoServerBehind(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "10ms")
	pids := filepath.Join(t.TempDir(), "pids")
	p.env = append(p.env, "PIDS="+pids)
	times := 10
	if testing.Short() {
		times = 3
	}
	for range times {
		// A leader that leaves a child behind which reads nothing.
		a := p.agent("--name", "notes", "--", "sh", "-c", `sleep 300 & echo $! >>"$PIDS"; echo $$ >>"$PIDS"; exec notes-mcp`)
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	started := strings.Fields(string(text))
	if len(started) != 2*times {
		t.Fatalf("%d processes were started, want %d", len(started), 2*times)
	}
	p.eventually("all of them have ended", func() bool {
		for _, pid := range started {
			if runs(t, pid) {
				return false
			}
		}
		return p.daemon().State.Attached == 0
	})
}

// A server that dies behind the endpoint is started again when it is needed,
// with growing pauses; what it has left behind is cleared away.
func TestServeStartsADeadServerAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "10ms")
	pids := filepath.Join(t.TempDir(), "pids")
	p.env = append(p.env, "LC_ALL="+pids) // a variable that a server gets
	s := p.serve(`  mortal: {command: sh, args: ["-c", "sleep 300 & echo $! >>\"$LC_ALL\"; echo $$ >>\"$LC_ALL\"; exec notes-mcp"]}` + "\n")
	c := s.client("2025-11-25")
	lists := func() bool {
		list, err := c.ListTools(s.context(), nil)
		return err == nil && len(list.Tools) == 2
	}
	read := func() []string {
		text, err := os.ReadFile(pids)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(text))
	}
	var started []string
	fresh := func() bool { // what a dead server listed may still be shown
		if !lists() {
			return false
		}
		now := read()
		return len(now)%2 == 0 && len(now) > len(started)
	}
	for range 4 {
		p.eventually("a new server lists its tools", fresh)
		started = read()
		if err := exec.Command("kill", "-9", started[len(started)-1]).Run(); err != nil {
			t.Fatal(err)
		}
		p.eventually("it is gone with its child", func() bool {
			return !runs(t, started[len(started)-1]) && !runs(t, started[len(started)-2])
		})
	}
	p.eventually("a new server lists its tools", fresh)
	endDaemon(string(p.home))
	for _, pid := range read() {
		if runs(t, pid) {
			t.Errorf("process %s was left behind", pid)
		}
	}
}

// runs reports whether a process is there and is not just waiting to be
// collected.
func runs(t *testing.T, pid string) bool {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if os.IsNotExist(err) {
		return false
	}
	if err != nil { // it ended while it was read
		return false
	}
	_, after, _ := bytes.Cut(stat, []byte(") "))
	return !bytes.HasPrefix(after, []byte("Z"))
}

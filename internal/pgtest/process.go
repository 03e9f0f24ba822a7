package pgtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// leash runs a command and kills it when its standard input ends, which it
// does when the test's process has died, however it died.
const leash = `"$@" & pid=$!; trap '' INT TERM; read -r _; kill -QUIT $pid 2>/dev/null; wait $pid`

// Restart stops the server if it runs, and starts it with the data that it
// has.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.halt()
	before := s.Said(inUse)
	s.begin(t)
	s.await(t, before)
}

// inUse is what a server says whose predecessor was killed, while one of its
// processes is not gone yet.
const inUse = "pre-existing shared memory block"

// begin starts the server's process.
func (s *Server) begin(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(s.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	server := s.command("postgres", "-D", s.data(), "-p", strconv.Itoa(s.port))
	cmd := exec.Command("sh", append([]string{"-c", leash, "sh"}, server.Args...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = server.Dir, server.Env, log, log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &running{leash: in, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		_ = cmd.Wait() // it is killed, and says so
	}()
	s.running = r
}

// await waits until the server takes connections. One that ended because its
// predecessor is not gone yet, which it has said more often than before, is
// started again.
func (s *Server) await(t testing.TB, before int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		c, err := pgx.Connect(ctx, s.DSN())
		if err == nil {
			_ = c.Close(ctx)
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("PostgreSQL did not start: %v\n%s", err, s.tail())
		case <-time.After(20 * time.Millisecond):
		}
		if said := s.Said(inUse); said > before {
			before = said
			s.halt()
			s.begin(t)
		}
	}
}

// tail is the end of the server's log.
func (s *Server) tail() []byte {
	text, _ := os.ReadFile(s.log)
	return text[max(0, len(text)-4000):]
}

// Said counts how often the server's log has a text.
func (s *Server) Said(what string) int {
	text, _ := os.ReadFile(s.log) // there is none before the first start
	return bytes.Count(text, []byte(what))
}

// halt stops the server at once, as a crash would, and waits for its end.
func (s *Server) halt() {
	if s.running == nil {
		return
	}
	_ = s.running.leash.Close()
	select {
	case <-s.running.ended:
	case <-time.After(stopTimeout):
	}
	s.running = nil
}

// Crash ends the server as kill -9 of all of its processes does: nothing is
// flushed and nobody is told. Start it again with Restart.
func (s *Server) Crash(t testing.TB) {
	t.Helper()
	pid := s.PID(t)
	workers := children(pid)
	if err := kill(pid); err != nil {
		t.Fatal(err)
	}
	for _, w := range workers { // else they end when they notice
		_ = kill(w)
	}
	s.halt()
}

func kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	return err
}

// children are the processes that a process has started, where the system
// shows them.
func children(pid int) (out []int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, word := range strings.Fields(string(text)) {
		if n, err := strconv.Atoi(word); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// PID is the process id of the server.
func (s *Server) PID(t testing.TB) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	pid, err := strconv.Atoi(string(first))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// Standby makes a copy of the server that follows it. The settings are those
// of the standby; name is its application_name.
func (s *Server) Standby(t testing.TB, name string, settings ...string) *Server {
	t.Helper()
	return StandbyIn(t, memory(), s.DSN(), name, settings...)
}

// StandbyIn is a standby of the server behind a connection string, which it
// goes on to use, with the data below a directory as in StartIn.
func StandbyIn(t testing.TB, dir, dsn, name string, settings ...string) *Server {
	t.Helper()
	b := create(t, dir)
	b.copy(t, dsn, name)
	b.configure(t, settings)
	b.Restart(t)
	return b
}

// copy takes a base backup. On a machine that is busy the server may lose
// patience with it, so it is tried more than once.
func (s *Server) copy(t testing.TB, dsn, name string) {
	t.Helper()
	for try := 1; ; try++ {
		out, err := s.command("pg_basebackup", "-d", dsn+" application_name="+name, "-D", s.data(), "--checkpoint=fast", "--no-sync",
			"--write-recovery-conf", "-X", "stream").CombinedOutput()
		if err == nil {
			return
		}
		if try == 3 {
			t.Fatalf("pg_basebackup: %v\n%s", err, out)
		}
		if err := os.RemoveAll(s.data()); err != nil {
			t.Fatal(err)
		}
	}
}

// Rebuild throws the data of a stopped server away and makes it a standby as
// StandbyIn does, at its old address.
func (s *Server) Rebuild(t testing.TB, dsn, name string) {
	t.Helper()
	s.halt()
	if err := os.RemoveAll(s.data()); err != nil {
		t.Fatal(err)
	}
	s.copy(t, dsn, name)
	s.Restart(t)
}

// Promote makes a standby the primary and waits until it takes writes.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	s.run(t, "pg_ctl", "promote", "-w", "-t", "60", "-D", s.data())
}

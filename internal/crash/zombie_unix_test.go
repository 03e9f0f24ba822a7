//go:build unix

package crash_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// haunt stops one child at its point, lets another process take over once
// every lease is over, lets the child go on in the middle of that or after
// it, and judges.
func haunt(t *testing.T, l *tally, r run) {
	t.Helper()
	r.Stop = true
	c := start(t, r)
	answers, hit := c.listen(t, "at ")
	if hit {
		c.untilStopped(t)
	}
	w := c.successor(t)
	wake := sync.OnceFunc(func() {
		_ = c.Process.Signal(syscall.SIGCONT)
		more, _ := c.listen(t, "")
		answers = append(answers, more...)
		_ = c.Wait()
	})
	w.provider.OnStep(func(_ context.Context, step string) error {
		if step == verbatimtest.StepDone { // it is being sent again: now the first sender is back
			wake()
		}
		return nil
	})
	if err := w.takeOver(t.Context(), r.Scene); err != nil {
		t.Errorf("%s at %q: %v", r.Scene, r.Point, err)
	}
	wake()
	l.add(r, hit, w.recover(t.Context(), answers))
	w.close(t)
	if err := os.Remove(r.Provider); err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
}

// takeOver is what a process does that finds the work of a stopped one.
func (w *world) takeOver(ctx context.Context, scene string) error {
	if err := w.restart(ctx); err != nil {
		return err
	}
	_, err := w.gate.Call(ctx, w.session(), w.request(firstRule(scene)))
	return err
}

func (c *child) untilStopped(t *testing.T) {
	t.Helper()
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(c.Process.Pid, &status, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil || status.Stopped():
			return
		case status.Exited() || status.Signaled():
			t.Fatalf("the child of %s at %q has ended: %s", c.Scene, c.Point, c.stderr.String())
		}
	}
}

// successor is the process that takes over. SQLite lets nobody else open the
// store while the stopped process lives, so here its lock is lost, as on a
// file system that forgets locks.
func (c *child) successor(t *testing.T) *world {
	t.Helper()
	if c.Postgres == "" {
		if err := os.Remove(filepath.Join(c.run.Dir, "verbatim.db.lock")); err != nil {
			t.Error(err)
		}
	}
	r := c.run
	r.Plant = ""
	if r.Postgres != "" {
		r.Dir = t.TempDir() // what is not shared
	}
	return open(t, r, 3*time.Minute, nil)
}

// hauntEach stops a process at every point, in turns.
func hauntEach(t *testing.T, l *tally, each int, postgres func() string) {
	t.Helper()
	known := ways(t)
	dir, dsn, n := t.TempDir(), postgres(), 0
	for turn := range each {
		for _, point := range points() {
			ways := known[point]
			if len(ways) == 0 {
				t.Errorf("no scene leads through %q", point)
				continue
			}
			n++
			w := ways[turn%len(ways)]
			haunt(t, l, run{Dir: dir, Postgres: dsn, Provider: filepath.Join(dir, "provider"+strconv.Itoa(n)),
				Effect: w.effect, Scene: w.scene, Point: point, Refuse: turn%2 == 1, N: n})
		}
	}
}

// TestStoppedProcessComesBackTooLate stops a process at each point until
// others have taken over.
func TestStoppedProcessComesBackTooLate(t *testing.T) {
	t.Parallel()
	l := &tally{hits: map[string]int{}}
	each := many(t, "VERBATIM_ZOMBIES", 1)
	hauntEach(t, l, each, func() string { return "" })
	report(t, l, each)
}

// TestStoppedGatewayComesBackTooLate does the same to one of two gateways on
// one PostgreSQL.
func TestStoppedGatewayComesBackTooLate(t *testing.T) {
	t.Parallel()
	l := &tally{hits: map[string]int{}}
	each := many(t, "VERBATIM_ZOMBIES_POSTGRES", 1)
	server := pgtest.Start(t)
	hauntEach(t, l, each, func() string { return shared(t, server) })
	report(t, l, each)
}

func TestMissingFenceIsFound(t *testing.T) {
	t.Parallel()
	for _, plant := range []string{"", plantNoFence} {
		l := &tally{hits: map[string]int{}}
		dir := t.TempDir()
		haunt(t, l, run{Dir: dir, Provider: filepath.Join(dir, "provider"), Effect: catalog.Keyed, Scene: "allowed",
			Point: "tool arrive", Refuse: true, Plant: plant, N: 1})
		if l.hits["tool arrive"] != 1 || (len(l.bad) > 0) != (plant != "") {
			t.Errorf("%q: found %v", plant, l.bad)
		}
		t.Logf("%q: %v", plant, l.bad)
	}
}

package hostile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// The least that the suite must hold.
const (
	leastScripts = 200
	leastClasses = 17
)

// Every hostile server stands behind one endpoint, each before a client of its
// own, and behind wrap where it is a command.
func TestHostileServersRunNothingThatWasNotDecided(t *testing.T) {
	t.Parallel()
	all := chosen(scripts())
	classes := map[string]bool{}
	for _, s := range scripts() {
		classes[s.class] = true
	}
	if len(scripts()) < leastScripts || len(classes) < leastClasses {
		t.Errorf("%d servers of %d classes, want %d of %d", len(scripts()), len(classes), leastScripts, leastClasses)
	}
	g := newGateway(t, all)
	together(g.names(), func(name string) {
		s := all[name]
		s.try(probe{t, s.class + ", " + s.name + " (" + name + ")"}, g, name)
	})
	g.checkBounds(t)
	g.stop()
	unseen(t, "the log", g.logged(), canaryUpstream, canaryDaemon, canaryClient, canaryHeader)
}

func (s *script) try(t testing.TB, g *gateway, name string) {
	list := g.listed(t, name)
	call := g.lookup(t, name)
	s.checkList(t, list.body)
	s.checkCall(t, call.body)
	printed := ""
	if !s.http {
		printed = g.wrapped(t, name)
		s.checkCall(t, printed)
	}
	s.checkReceived(t, g.stage.received(t, name))
	unseen(t, "a client", list.body+call.body+printed, canaryUpstream, canaryDaemon)
}

// probe is a test that says which script it is about. Many of them run beside
// each other, most of them waiting.
type probe struct {
	testing.TB
	about string
}

// Errorf fails the test.
func (p probe) Errorf(format string, args ...any) {
	p.TB.Helper()
	p.TB.Errorf("%s: %s", p.about, fmt.Sprintf(format, args...))
}

// atOnce is how many scripts run beside each other.
const atOnce = 16

func together[T any](list []T, do func(T)) {
	var all sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, x := range list {
		free <- struct{}{}
		all.Go(func() { defer func() { <-free }(); do(x) })
	}
	all.Wait()
}

// The bounds of the daemon after all of that: resident memory at its highest,
// in KiB, and open files.
const (
	maxResident = 600 << 10
	maxFiles    = 64
)

// checkBounds: memory is bounded, and what the clients and servers opened is
// closed again, but for one connection or two pipes of each server.
func (g *gateway) checkBounds(t *testing.T) {
	t.Helper()
	if kib, ok := g.status("VmHWM"); ok {
		t.Logf("resident at most: %d MiB", kib>>10)
		if kib > maxResident {
			t.Errorf("the daemon took %d MiB", kib>>10)
		}
	}
	if n, ok := g.open(); ok && n > maxFiles+4*len(g.stage.all) {
		t.Errorf("the daemon has %d files open", n)
	}
}

func (s *script) checkList(t testing.TB, body string) {
	t.Helper()
	for _, name := range s.lists {
		if !strings.Contains(body, name) {
			t.Errorf("the list lacks %s: %.300s", name, body)
		}
	}
	for _, name := range s.hides {
		if strings.Contains(body, name) {
			t.Errorf("the list holds %s: %.300s", name, body)
		}
	}
}

func (s *script) checkCall(t testing.TB, body string) {
	t.Helper()
	if !holdsOne(body, s.says) {
		t.Errorf("the answer holds none of %q: %.400s", s.says, body)
	}
	for _, word := range s.hides {
		if word == "EVIL" && strings.Contains(body, word) {
			t.Errorf("the answer holds %s: %.300s", word, body)
		}
	}
}

func holdsOne(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// checkReceived holds what a server got against what it may get.
func (s *script) checkReceived(t testing.TB, got []seen) {
	t.Helper()
	for _, x := range got {
		unseen(t, "the server", x.Frame+strings.Join(x.Env, "\n"), canaryClient, canaryDaemon, canaryHeader, canaryUpstream)
		unseen(t, "the server", x.Header, canaryClient, canaryDaemon, canaryHeader)
		checkFrame(t, x.Frame, s.runs, frozen)
	}
}

// checkFrame: a call that arrives is of the tool that policy allows, with the
// arguments that were decided on.
func checkFrame(t testing.TB, frame string, runs bool, allowed ...string) {
	t.Helper()
	var m struct {
		Method string
		Params struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	if frame == "" || json.Unmarshal([]byte(frame), &m) != nil || m.Method != "tools/call" {
		return
	}
	ok := runs && m.Params.Name == "look"
	right := false
	for _, a := range allowed {
		right = right || string(m.Params.Arguments) == a
	}
	if !ok || !right {
		t.Errorf("BYPASS: %.500s", frame)
	}
}

// unseen: none of these secrets is in a text.
func unseen(t testing.TB, who, text string, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("%s saw the secret %s", who, secret)
		}
	}
}

package hub_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// counted counts the connections of a server that are open.
type counted struct {
	dial  func(context.Context) (hub.Transport, error)
	dials atomic.Int64
	open  atomic.Int64
}

type countedTransport struct {
	hub.Transport
	once *sync.Once
	open *atomic.Int64
}

func (c countedTransport) Close() {
	c.once.Do(func() { c.open.Add(-1) })
	c.Transport.Close()
}

func (c *counted) Dial(ctx context.Context) (hub.Transport, error) {
	t, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	c.dials.Add(1)
	c.open.Add(1)
	return countedTransport{t, &sync.Once{}, &c.open}, nil
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("it never happened that %s", what)
}

func shownTools(t *testing.T, s *hub.Session) []string {
	t.Helper()
	got, err := wire.ToolDefinitions(ask(t, s, "tools/list", "{}").Result())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range got.Tools {
		names = append(names, tool.Name)
	}
	return names
}

const done = `{"content":[{"type":"text","text":"done"}]}`

// A call that is under way when its server is taken away gets that server's
// answer; nobody else reaches the server any more, and then it is ended.
func TestReplaceLetsCallsUnderWayFinish(t *testing.T) {
	t.Parallel()
	began, finish := make(chan struct{}), make(chan struct{})
	old := &counted{dial: (&scripted{tools: []string{"slow"}, call: func(*wire.Message) string {
		close(began)
		<-finish
		return done
	}}).dial}
	h, f := newHub(t, reviewed{"slow"}, hub.Server{Name: "old", Dial: old.Dial})
	answered := make(chan *wire.Message, 1)
	caller := hub.Caller{Session: f.Session()}
	go func() { answered <- ask(t, h.Legacy(caller), "tools/call", `{"name":"slow","arguments":{}}`) }()
	<-began
	session := h.Legacy(caller)
	if err := h.Replace([]hub.Server{{Name: "new", Dial: (&scripted{tools: []string{"quick"}, call: func(*wire.Message) string { return done }}).dial}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"quick"}, shownTools(t, session)); diff != "" {
		t.Errorf("after the change (-want +got):\n%s", diff)
	}
	if a := ask(t, session, "tools/call", `{"name":"slow","arguments":{}}`); !strings.Contains(string(a.Bytes()), "unknown_tool") {
		t.Errorf("the tool of a server that is gone: %s", a.Bytes())
	}
	if open := old.open.Load(); open != 1 {
		t.Errorf("%d connections to the old server while it works", open)
	}
	close(finish)
	if a := <-answered; string(a.Result()) != done {
		t.Errorf("the call under way: %s", a.Bytes())
	}
	eventually(t, "the old server is ended", func() bool { return old.open.Load() == 0 })
}

func TestReplaceKeepsConnectionsOfWhatIsTheSame(t *testing.T) {
	t.Parallel()
	var same, other counted
	same.dial, other.dial = (&scripted{tools: []string{"a"}}).dial, (&scripted{tools: []string{"b"}}).dial
	list := func(version string) []hub.Server {
		return []hub.Server{{Name: "same", Version: "1", Dial: same.Dial}, {Name: "other", Version: version, Dial: other.Dial}}
	}
	h, f := newHub(t, reviewed{}, list("1")...)
	session := h.Legacy(hub.Caller{Session: f.Session()})
	want := []string{"other__b", "same__a"}
	for i, version := range []string{"1", "1", "2", "2"} {
		if i > 0 {
			if err := h.Replace(list(version)); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, shownTools(t, session)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if same.dials.Load() != 1 || other.dials.Load() != 2 {
		t.Errorf("dialled %d and %d times, want 1 and 2", same.dials.Load(), other.dials.Load())
	}
	eventually(t, "the earlier connection is closed", func() bool { return other.open.Load() == 1 })
}

// What is wrong with a list changes nothing.
func TestReplaceRefusesWhatNewWould(t *testing.T) {
	t.Parallel()
	h, f := newHub(t, reviewed{}, hub.Server{Name: "one", Dial: (&scripted{tools: []string{"a"}}).dial})
	session := h.Legacy(hub.Caller{Session: f.Session()})
	dial := (&scripted{}).dial
	for what, list := range map[string][]hub.Server{"none": {}, "no name": {{Dial: dial}}, "no dial": {{Name: "x"}},
		"alike": {{Name: "mail1", Dial: dial}, {Name: "maill", Dial: dial}}} {
		if err := h.Replace(list); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
	if diff := cmp.Diff([]string{"a"}, shownTools(t, session)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	h.Close(ctx)
	if err := h.Replace([]hub.Server{{Name: "one", Dial: dial}}); !errors.Is(err, hub.ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}

// Calls go on through a hundred changes: each is answered, and runs once.
func TestNoCallIsLostWhileServersChange(t *testing.T) {
	t.Parallel()
	var runs, sent atomic.Int64
	steady := func() *counted {
		return &counted{dial: (&scripted{tools: []string{"count"}, call: func(*wire.Message) string { runs.Add(1); return done }}).dial}
	}
	one := steady()
	h, f := newHub(t, reviewed{"count"}, hub.Server{Name: "one", Version: "0", Dial: one.Dial}, hub.Server{Name: "more", Dial: (&scripted{}).dial})
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			session := h.Legacy(hub.Caller{Session: f.Session()})
			defer session.Close()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				sent.Add(1)
				if a := ask(t, session, "tools/call", `{"name":"one__count","arguments":{}}`); string(a.Result()) != done {
					t.Errorf("client %d, call %d: %s", i, n, a.Bytes())
					return
				}
			}
		})
	}
	for i := range 100 {
		more := hub.Server{Name: fmt.Sprintf("more%c", 'a'+i%26), Dial: (&scripted{}).dial}
		if err := h.Replace([]hub.Server{{Name: "one", Version: fmt.Sprint(i % 3), Dial: one.Dial}, more}); err != nil {
			t.Fatal(err)
		}
		before := sent.Load()
		eventually(t, "a call between two changes", func() bool { return sent.Load() > before })
	}
	close(stop)
	all.Wait()
	if sent.Load() < 100 || runs.Load() != sent.Load() {
		t.Errorf("%d calls, %d runs", sent.Load(), runs.Load())
	}
	eventually(t, "only the last server's connection is open", func() bool { return one.open.Load() <= 1 })
}

// Clients of both eras hear that lists have changed, and the streams of the
// modern one go on with the servers that came.
func TestReplaceIsTold(t *testing.T) {
	t.Parallel()
	late := &scripted{tools: []string{"b"}}
	h, f := newHub(t, reviewed{}, hub.Server{Name: "one", Version: "1", Dial: (&scripted{tools: []string{"a"}}).dial})
	heard := make(chan string, 100)
	session := h.Legacy(hub.Caller{Session: f.Session()})
	session.Outlet(func(m *wire.Message) { heard <- "legacy " + m.Method() })
	deaf := h.Legacy(hub.Caller{Session: f.Session(), Servers: []string{"else"}})
	deaf.Outlet(func(m *wire.Message) { heard <- "deaf " + m.Method() })
	listening := h.Once(hub.Caller{Session: f.Session()})
	m, err := wire.NewRequest(wire.NumberID(7), "subscriptions/listen", []byte(`{"notifications":{"toolsListChanged":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		listening.Request(ctx, m, func(m *wire.Message) { heard <- "modern " + m.Method() })
	}()
	if got := <-heard; got != "modern notifications/subscriptions/acknowledged" {
		t.Fatalf("first %s", got)
	}
	if err := h.Replace([]hub.Server{{Name: "one", Version: "1", Dial: (&scripted{}).dial}, {Name: "two", Dial: late.dial}}); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{<-heard: true, <-heard: true}
	if diff := cmp.Diff(map[string]bool{"legacy notifications/tools/list_changed": true, "modern notifications/tools/list_changed": true}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	cancel()
	<-ended
	if len(heard) != 0 {
		t.Errorf("%s was heard, too", <-heard)
	}
}

package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

func pattern(t *testing.T, text string) hub.Pattern {
	t.Helper()
	p, err := hub.ParsePattern(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPatternsNameWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"file:///srv/*", "file:///srv/a", true},
		{"file:///srv/*", "file:///srv/a/b", false},
		{"file:///srv/**", "file:///srv/a/b", true},
		{"file:///srv/**", "file:///srvx", false},
		{"file:///srv/**", "FILE:///srv/a", false},
		{"*.read_*", "files.read_text", true},
		{"*.read_*", "files.write", false},
		{"a.c", "abc", false},
		{"**", "a b", false},
		{"**", "a\nb", false},
		{"**", strings.Repeat("x", 3000), false},
	} {
		if got := pattern(t, tt.pattern).Matches(tt.text); got != tt.want {
			t.Errorf("%q matches %q: %v", tt.pattern, tt.text, got)
		}
	}
	for _, bad := range []string{"", "a b", "é", strings.Repeat("x", 600)} {
		if _, err := hub.ParsePattern(bad); err == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
	if (hub.Pattern{}).Matches("") {
		t.Error("the zero pattern matches")
	}
}

// scripted is a server of the legacy era with fixed lists.
type scripted struct {
	tools     []string // tool names
	resources []string
	seen      chan string                  // methods and names of what it was asked
	call      func(m *wire.Message) string // the result of a tool call; nil is an empty one
}

func (s *scripted) dial(context.Context) (hub.Transport, error) {
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	go s.serve(wire.NewReader(serverIn, wire.Limits{}), wire.NewWriter(serverOut))
	return piped{gate.NewStream(fromServer, toServer, slog.New(slog.DiscardHandler)), func() { serverIn.Close(); serverOut.Close() }}, nil
}

type piped struct {
	*gate.Stream
	end func()
}

func (p piped) Listen(other func(*wire.Message)) { _ = p.Stream.Listen(other) }
func (p piped) Close()                           { p.end() }

func (s *scripted) serve(in *wire.Reader, out *wire.Writer) {
	for {
		m, err := in.Read()
		if err != nil {
			return
		}
		if m.Kind() != wire.KindRequest {
			continue
		}
		answer, err := s.answer(m)
		if err != nil || out.Write(answer) != nil {
			return
		}
	}
}

func (s *scripted) answer(m *wire.Message) (*wire.Message, error) {
	object := func(v any) (*wire.Message, error) {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		return wire.NewResult(m.ID(), raw)
	}
	switch m.Method() {
	case "initialize":
		return object(map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "s", "version": "1"}})
	case "tools/list":
		list := []any{}
		for _, name := range s.tools {
			list = append(list, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}})
		}
		return object(map[string]any{"tools": list})
	case "resources/list":
		list := []any{}
		for _, uri := range s.resources {
			list = append(list, map[string]any{"name": "n", "uri": uri})
		}
		return object(map[string]any{"resources": list})
	case "tools/call", "resources/read", "resources/subscribe":
		select {
		case s.seen <- m.Method() + " " + m.Name():
		default:
		}
		if s.call != nil {
			return wire.NewResult(m.ID(), []byte(s.call(m)))
		}
		return object(map[string]any{"content": []any{}, "contents": []any{}})
	}
	return wire.NewError(m.ID(), wire.CodeMethodNotFound, "no", nil)
}

// reviewed has one tool in its catalog.
type reviewed struct{ tool string }

func (r reviewed) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	tool, err := catalog.Define(catalog.Spec{Name: server + "." + t.Name, Server: server, Definition: t.Raw, Pin: t.Digest, Read: true, Reason: "test"})
	if t.Name != r.tool && err == nil {
		tool, err = catalog.Uncataloged(server, t.Name, t.Raw)
	}
	if err != nil {
		return &catalog.Tool{Name: server + "." + t.Name, Mutation: true}, verbatim.CodeToolRefused
	}
	return tool, ""
}

func newHub(t *testing.T, b gate.Binder, servers ...hub.Server) (*hub.Hub, *verbatimtest.Fixture) {
	t.Helper()
	f := verbatimtest.New(t, verbatimtest.Config{Policy: policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
	})})
	h, err := hub.New(hub.Config{Gate: f.Gate, Binder: b, Servers: servers, Wait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		h.Close(ctx)
	})
	return h, f
}

// newHubPausing is a hub whose server is tried again soon.
func newHubPausing(t *testing.T, s hub.Server, pause time.Duration) (*hub.Hub, *verbatimtest.Fixture) {
	t.Helper()
	f := verbatimtest.New(t, verbatimtest.Config{})
	h, err := hub.New(hub.Config{Gate: f.Gate, Binder: reviewed{}, Servers: []hub.Server{s}, MaxPause: pause})
	if err != nil {
		t.Fatal(err)
	}
	return h, f
}

func ask(t *testing.T, s *hub.Session, method, params string) *wire.Message {
	t.Helper()
	m, err := wire.NewRequest(wire.NumberID(1), method, []byte(params))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return s.Request(ctx, m, func(*wire.Message) {})
}

// G03, G04: names that a reader could take for one another are not offered,
// nor called; the one that somebody has reviewed stays.
func TestNamesThatLookAlikeAreClosed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 62)
	s := &scripted{tools: []string{"send", "Send", "list_a", "list-a", "pay1", "payl", "fine", "bad name", long}, seen: make(chan string, 10)}
	h, f := newHub(t, reviewed{"send"}, hub.Server{Name: "one", Dial: s.dial}, hub.Server{Name: "two", Dial: (&scripted{tools: []string{"send"}}).dial})
	session := h.Legacy(hub.Caller{Session: f.Session()})
	got, err := wire.ToolDefinitions(ask(t, session, "tools/list", "{}").Result())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range got.Tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"one__send", "one__fine", "two__send"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, name := range []string{"one__Send", "one__list_a", "one__payl", "one__" + long, "one__nothing", "three__send", "send", "one.send"} {
		if a := ask(t, session, "tools/call", `{"name":"`+name+`","arguments":{}}`); a.Kind() == wire.KindResult && !strings.Contains(string(a.Result()), "unknown_tool") {
			t.Errorf("%s: %s", name, a.Bytes())
		}
	}
	if a := ask(t, session, "tools/call", `{"name":"one__send","arguments":{}}`); a.Kind() != wire.KindResult {
		t.Errorf("the reviewed one: %s", a.Bytes())
	}
	if seen := <-s.seen; seen != "tools/call send" || len(s.seen) > 0 {
		t.Errorf("the server saw %s and %d more", seen, len(s.seen))
	}
}

func TestServersWhoseNamesLookAlikeAreRefused(t *testing.T) {
	t.Parallel()
	f := verbatimtest.New(t, verbatimtest.Config{})
	for _, pair := range [][2]string{{"a", "a--b"}, {"mail1", "maill"}, {"x0", "xo"}, {"same", "same"}, {"ok", "Bad"}} {
		var servers []hub.Server
		for _, name := range pair {
			servers = append(servers, hub.Server{Name: name, Dial: (&scripted{}).dial})
		}
		if _, err := hub.New(hub.Config{Gate: f.Gate, Binder: reviewed{}, Servers: servers}); err == nil {
			t.Errorf("%v stand side by side", pair)
		}
	}
}

func TestResourcesAreClosedUnlessOneRuleNamesThem(t *testing.T) {
	t.Parallel()
	s := &scripted{resources: []string{"file:///srv/a", "file:///etc/passwd", "file:///srv/../etc/passwd"}, seen: make(chan string, 10)}
	both := []hub.Pattern{pattern(t, "file:///both/**")}
	h, f := newHub(t, reviewed{}, hub.Server{Name: "one", Dial: s.dial, Resources: append([]hub.Pattern{pattern(t, "file:///srv/**")}, both...)},
		hub.Server{Name: "two", Dial: (&scripted{resources: []string{"file:///two/x"}}).dial, Resources: both})
	session := h.Legacy(hub.Caller{Session: f.Session()})
	list := string(ask(t, session, "resources/list", "{}").Result())
	if list != `{"resources":[{"name":"n","uri":"file:///srv/a"}]}` {
		t.Errorf("list %s", list)
	}
	for uri, want := range map[string]bool{"file:///srv/a": true, "file:///etc/passwd": false, "file:///srv/../etc/passwd": false, "file:///srv/%2e%2e/etc": false,
		"file:///srv/%252e%252e/etc": false, `file:///srv/..\\etc`: false, "file:///srv/.": false, "file:///both/x": false, "file:///srv": false, "": false} {
		a := ask(t, session, "resources/read", `{"uri":"`+uri+`"}`)
		if got := a.Kind() == wire.KindResult; got != want {
			t.Errorf("%s: %s", uri, a.Bytes())
		}
	}
	if len(s.seen) != 1 {
		t.Errorf("%d reads reached the server", len(s.seen))
	}
}

func TestASessionFollowsSoManyResourcesAndNoMore(t *testing.T) {
	t.Parallel()
	s := &scripted{seen: make(chan string, 2000)}
	h, f := newHub(t, reviewed{}, hub.Server{Name: "one", Dial: s.dial, Resources: []hub.Pattern{pattern(t, "file:///srv/**")}})
	session := h.Legacy(hub.Caller{Session: f.Session()})
	follow := func(method string, n int) wire.Kind {
		return ask(t, session, "resources/"+method, fmt.Sprintf(`{"uri":"file:///srv/%d"}`, n)).Kind()
	}
	for n := range 1000 {
		if follow("subscribe", n) != wire.KindResult {
			t.Fatalf("resource %d", n)
		}
	}
	for _, step := range []struct {
		method string
		n      int
		want   wire.Kind
	}{{"subscribe", 1000, wire.KindError}, {"subscribe", 7, wire.KindResult}, {"subscribe", 1001, wire.KindError},
		{"unsubscribe", 7, wire.KindResult}, {"subscribe", 1000, wire.KindResult}, {"subscribe", 7, wire.KindError}} {
		if got := follow(step.method, step.n); got != step.want {
			t.Errorf("%s %d: %v", step.method, step.n, got)
		}
	}
	if len(s.seen) != 1002 {
		t.Errorf("the server was asked %d times", len(s.seen))
	}
}

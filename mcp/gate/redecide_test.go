package gate_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy"
)

// ordinaryTools makes ordinary changes of all tools.
type ordinaryTools struct{}

func (ordinaryTools) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	tool, err := catalog.Define(catalog.Spec{Name: server + "." + t.Name, Server: server, Definition: t.Raw, Pin: t.Digest,
		Impact: catalog.Ordinary, Reason: "test"})
	if err != nil {
		return nil, verbatim.CodeToolRefused
	}
	return tool, ""
}

// moving is a policy that is replaced while it decides, for some times.
type moving struct {
	left   atomic.Int64
	engine atomic.Pointer[policy.Engine]
	last   policy.Effect
}

func newMoving(times int64, last policy.Effect) *moving {
	m := &moving{last: last}
	m.left.Store(times)
	m.put()
	return m
}

func (m *moving) put() {
	version := "v" + strings.Repeat("i", int(m.left.Load()))
	e := policy.FromFunc(version, func(context.Context, policy.Input) (policy.Decision, error) {
		if m.left.Load() == 0 {
			return policy.Decision{Effect: m.last, Reason: "test"}, nil
		}
		m.left.Add(-1)
		m.put()
		return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
	})
	m.engine.Store(&e)
}

func (m *moving) Current() policy.Engine { return *m.engine.Load() }

func (m *moving) Decide(ctx context.Context, in policy.Input) (policy.Decision, error) {
	return m.Current().Decide(ctx, in)
}

func (m *moving) Version(tool string) string { return m.Current().Version(tool) }

// A call whose rules are replaced while it walks is decided on by those that
// are in force, and runs at most once; each decision is in the record. Rules
// that never stand still refuse it.
func TestACallWhoseRulesAreReplacedIsDecidedOnAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		times   int64
		last    policy.Effect
		runs    int
		denials int
		code    string
	}{
		{"not replaced", 0, policy.Allow, 1, 0, ""},
		{"replaced once", 1, policy.Allow, 1, 1, ""},
		{"replaced twice by rules that deny", 2, policy.Deny, 0, 3, "policy_denied"},
		{"never the same", 100, policy.Allow, 0, 6, "policy_changed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := boundWorld(t, time.Millisecond, ordinaryTools{}, func(c *verbatim.Config) { c.Policy = newMoving(tt.times, tt.last) })
			w.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"path":"a"}}}`)
			answer := string(w.read().Bytes())
			if tt.code != "" && !strings.Contains(answer, tt.code) || tt.code == "" && strings.Contains(answer, "isError") {
				t.Errorf("answer %s", answer)
			}
			rows, err := w.Gate.Actions(t.Context(), action.Filter{Tenant: w.Session().Tenant, Limit: 50, States: []action.State{action.Denied}})
			if err != nil || len(rows) != tt.denials {
				t.Errorf("%d denials in the record, want %d; %v", len(rows), tt.denials, err)
			}
			runs := 0
			w.server.mu.Lock()
			defer w.server.mu.Unlock()
			for _, got := range w.server.got {
				if strings.Contains(got, "tools/call") {
					runs++
				}
			}
			if runs != tt.runs {
				t.Errorf("%d runs, want %d", runs, tt.runs)
			}
		})
	}
}

// announcing is a binder whose catalog is replaced.
type announcing struct {
	binder
	changed chan chan struct{}
}

func (a announcing) Changed() <-chan struct{} {
	c := make(chan struct{})
	a.changed <- c
	return c
}

// A client that has seen tools is told when the catalog is replaced: of the
// stateless era on the stream that asked for it, and nowhere else.
func TestAReplacedCatalogIsToldToTheClient(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, list, listen, want string }{
		{"with sessions", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`},
		{"stateless", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
			`{"jsonrpc":"2.0","id":"s1","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
			`"io.modelcontextprotocol/subscriptionId":"s1"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := announcing{changed: make(chan chan struct{}, 10)}
			w := boundWorld(t, time.Millisecond, a)
			first := <-a.changed
			w.write(tt.list)
			w.read()
			if tt.listen != "" {
				w.write(tt.listen)
				for end := time.Now().Add(20 * time.Second); len(w.server.received("subscriptions/listen")) == 0 && time.Now().Before(end); {
					time.Sleep(time.Millisecond)
				}
			}
			close(first)
			if got := string(w.read().Bytes()); !strings.Contains(got, tt.want) || !strings.Contains(got, "tools/list_changed") {
				t.Errorf("told %s", got)
			}
		})
	}
}

var _ gate.Announcing = announcing{}

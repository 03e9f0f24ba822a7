package gate_test

import (
	"strings"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// classed binds every tool but look as an ordinary mutation of one effect
// class, looked up by look where it is queryable.
type classed struct{ effect catalog.EffectClass }

func (b classed) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	if t.Name == "look" {
		return binder{}.Bind(server, t)
	}
	effect := b.effect
	if t.Name == "keyed" {
		effect = catalog.Keyed
	}
	spec := catalog.Spec{Name: server + "." + t.Name, Server: server, Definition: t.Raw, Pin: t.Digest, Impact: catalog.Ordinary,
		Reason: "test", Effect: effect, Errors: catalog.ErrorsUnclear}
	if effect == catalog.Keyed {
		spec.Retention = time.Hour
	}
	if effect == catalog.Queryable {
		spec.Lookup = &catalog.Lookup{Tool: server + ".look", Arguments: map[string]string{"id": "/path"},
			At: "/structuredContent/state", Is: []string{"written"}}
	}
	tool, err := catalog.Define(spec)
	if err != nil {
		return nil, verbatim.CodeToolRefused
	}
	return tool, ""
}

const tendList = `{"tools":[
 {"name":"look","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}}},
 {"name":"keyed","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}},
 {"name":"write","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}}]}`

// settled waits until an action is in a state.
func (w *world) settled(id string, state action.State) {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		a, err := w.Gate.Action(w.t.Context(), "acme", id)
		if err != nil || time.Now().After(end) {
			w.t.Fatalf("it is %s, want %s (%v)", a.State, state, err)
		}
		if a.State == state {
			return
		}
	}
}

// unclear makes one call whose answer says nothing, and returns its action.
func (w *world) unclear(tool string) string {
	w.t.Helper()
	w.server.mu.Lock()
	w.server.list = tendList
	w.server.mu.Unlock()
	w.ask(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"path":"/a"},"_meta":{"x":1}}}`)
	rows, err := w.Gate.Actions(w.t.Context(), action.Filter{Tool: "files." + tool, States: []action.State{action.Uncertain}})
	if err != nil || len(rows) != 1 {
		w.t.Fatalf("%d uncertain actions, %v", len(rows), err)
	}
	return rows[0].ID
}

func (s *server) answer(f func(m *wire.Message) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.call = f
}

const unclearResult = `{"content":[],"isError":true}`

func TestServerOfAKeyedToolGetsTheKeyAgain(t *testing.T) {
	t.Parallel()
	w := boundWorld(t, 0, classed{catalog.Keyed})
	w.server.answer(func(*wire.Message) string { return unclearResult })
	id := w.unclear("write")
	w.server.answer(func(*wire.Message) string { return `{"content":[],"n":1}` })
	w.settled(id, action.Succeeded)
	sent := w.server.received("tools/call")
	if len(sent) != 2 {
		t.Fatalf("sent %d times", len(sent))
	}
	for _, f := range sent {
		if !strings.Contains(f, `"io.github.seed-de4804fb.verbatim/idempotencyKey":"`+action.ProviderKey(id, 1)+`"`) ||
			!strings.Contains(f, `"arguments":{"path":"/a"}`) {
			t.Errorf("sent %s", f)
		}
	}
}

func TestServerOfAQueryableToolIsAskedByItsReadTool(t *testing.T) {
	t.Parallel()
	w := boundWorld(t, 0, classed{catalog.Queryable})
	w.server.answer(func(m *wire.Message) string {
		if m.Name() == "look" {
			return `{"content":[],"structuredContent":{"state":"written"}}`
		}
		return unclearResult
	})
	w.settled(w.unclear("write"), action.ReconciledSucceeded)
	sent := w.server.received("tools/call")
	if len(sent) != 2 || !strings.Contains(sent[1], `"look"`) || !strings.Contains(sent[1], `"arguments":{"id":"/a"}`) {
		t.Errorf("sent %v", sent)
	}
}

func TestServerOfABlindToolIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := boundWorld(t, 0, classed{catalog.Blind})
	w.server.answer(func(*wire.Message) string { return unclearResult })
	id := w.unclear("write")
	for range 2 { // by the end of the second one, the first had its turn too
		w.server.answer(func(*wire.Message) string { return unclearResult })
		other := w.unclear("keyed")
		w.server.answer(func(*wire.Message) string { return `{"content":[]}` })
		w.settled(other, action.Succeeded)
	}
	w.settled(id, action.Uncertain)
	for _, f := range w.server.received("write") {
		if strings.Contains(f, "tools/call") && strings.Contains(f, "idempotencyKey") {
			t.Errorf("sent %s", f)
		}
	}
	if n := len(w.server.received("tools/call")); n != 5 { // once blind, twice each of the others
		t.Errorf("%d calls were sent", n)
	}
}

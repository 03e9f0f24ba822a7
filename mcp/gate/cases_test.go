package gate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// The field faults that are about this package, each under its id.

const askedMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func booking(id, seat, more string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"look","arguments":{"id":"` + seat + `"},` + more + askedMeta + `}}`
}

// G14: what a server gives a client to bring back is of one call only.
func TestG14AStateOfOneCallIsNoneOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	w.server.answer(func(m *wire.Message) string {
		if _, found, _ := m.Member("/params/inputResponses"); found {
			return `{"resultType":"complete","content":[]}`
		}
		return `{"resultType":"input_required","requestState":"S \u0041","inputRequests":{}}`
	})
	asked := w.ask(booking("1", "A", ""))
	state := member(t, asked, "/result/requestState")
	if state == "" || strings.Contains(state, "S") && len(state) < 20 {
		t.Fatalf("the client got %s", asked.Bytes())
	}
	back := func(id, seat, state string) *wire.Message {
		return w.ask(booking(id, seat, `"inputResponses":{"ok":true},"requestState":`+state+`,`))
	}
	for name, m := range map[string]*wire.Message{
		"other arguments":     back("2", "Z", state),
		"a state made up":     back("3", "A", `"S A"`),
		"a state that is cut": back("4", "A", state[:len(state)-3]+`"`),
		"no text":             back("5", "A", `5`),
		"another method":      w.ask(`{"jsonrpc":"2.0","id":6,"method":"prompts/get","params":{"name":"look","requestState":` + state + `,` + askedMeta + `}}`),
	} {
		if m.Kind() != wire.KindError {
			t.Errorf("%s: %s", name, m.Bytes())
		}
	}
	if n := len(w.server.received("inputResponses")); n != 0 {
		t.Fatalf("%d of them reached the server", n)
	}
	if m := back("7", "A", state); m.Kind() != wire.KindResult {
		t.Errorf("the call itself: %s", m.Bytes())
	}
	sent := w.server.received("inputResponses")
	if len(sent) != 1 || !strings.Contains(sent[0], `"requestState":"S \u0041"`) {
		t.Errorf("the server got %v", sent)
	}
}

// G17: a server that makes up progress tokens would make clients fail.
func TestG17OnlyProgressThatWasAskedForPasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	w.server.answer(func(m *wire.Message) string {
		for _, token := range []string{`"tool-call-1"`, `"mine"`, `5`, `"later"`} {
			n, err := wire.NewNotification("notifications/progress", []byte(`{"progressToken":`+token+`,"progress":1}`))
			if err != nil || w.server.out.Write(n) != nil {
				return ""
			}
		}
		return `{"content":[]}`
	})
	w.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","_meta":{"progressToken":"mine"}}}`)
	if m := w.read(); member(t, m, "/params/progressToken") != `"mine"` {
		t.Errorf("got %s", m.Bytes())
	}
	if m := w.read(); m.Kind() != wire.KindResult {
		t.Errorf("got %s", m.Bytes())
	}
}

// G26: an error in words, under isError false, goes to the model as it is.
func TestG26ResultThatItsSchemaDoesNotAllowPasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	w.server.mu.Lock()
	w.server.list = strings.Replace(listed, `"name":"look",`, `"name":"look","outputSchema":{"type":"object","required":["n"]},`, 1)
	w.server.mu.Unlock()
	const said = `{"content":[{"type":"text","text":"invalid_argument"}],"isError":false}`
	w.server.answer(func(*wire.Message) string { return said })
	if got := string(w.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look"}}`).Result()); got != said {
		t.Errorf("the client got %s", got)
	}
}

// relist makes the server list something else and say so.
func (w *world) relist(list string) {
	w.t.Helper()
	w.server.mu.Lock()
	w.server.list = list
	w.server.mu.Unlock()
	m, err := wire.NewNotification("notifications/tools/list_changed", nil)
	if err == nil {
		err = w.server.out.Write(m)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if m := w.read(); m.Method() != "notifications/tools/list_changed" {
		w.t.Fatalf("got %s", m.Bytes())
	}
}

// G32: a client that still has the old schema is told what the new one wants;
// nothing is guessed.
func TestG32CallByAnOldSchemaIsToldWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10*time.Millisecond)
	tool := func(member string) string {
		return `{"tools":[{"name":"report","inputSchema":{"type":"object","properties":{"` + member + `":{"type":"string"}},"required":["` + member + `"],"additionalProperties":false}}]}`
	}
	w.server.mu.Lock()
	w.server.list = tool("duration")
	w.server.mu.Unlock()
	call := func(id string) string {
		return string(w.ask(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"report","arguments":{"duration":"1h"}}}`).Result())
	}
	if got := call("1"); !strings.Contains(got, "approval_required") {
		t.Fatalf("by the schema of the day: %s", got)
	}
	w.Approve(w.pending().ID, "ada")
	w.relist(tool("lookback"))
	if got := call("2"); !strings.Contains(got, "invalid_arguments") || !strings.Contains(got, "/lookback") {
		t.Errorf("by the old schema: %s", got)
	}
	if n := len(w.server.received("tools/call")); n != 0 {
		t.Errorf("%d calls reached the server", n)
	}
}

// G33: a changed list is asked for again, all of it, and what changed is closed.
func TestG33ChangedListIsReadAgainAndClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	look := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look"}}`
	if got := string(w.ask(look).Result()); !strings.Contains(got, "done") {
		t.Fatal(got)
	}
	listings := len(w.server.received("tools/list"))
	w.relist(`{"tools":[{"name":"closed","inputSchema":{"type":"object"}}]}`)
	if got := string(w.ask(look).Result()); !strings.Contains(got, "unknown_tool") {
		t.Errorf("after the tool has gone: %s", got)
	}
	if n := len(w.server.received("tools/list")); n != listings+1 {
		t.Errorf("the list was asked for %d times more", n-listings)
	}
}

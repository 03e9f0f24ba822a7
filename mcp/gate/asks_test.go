package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// greet greets a server for a client with these capabilities.
func (w *world) greet(capabilities string) {
	w.t.Helper()
	w.ask(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`)
}

// says has the server send a frame by itself.
func (w *world) says(frame string) {
	w.t.Helper()
	m, err := wire.Parse([]byte(frame), wire.Limits{})
	if err == nil {
		err = w.server.out.Write(m)
	}
	if err != nil {
		w.t.Error(err)
	}
}

// heard waits until the server has received a frame that holds a text.
func (w *world) heard(text string) string {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		w.server.mu.Lock()
		for _, f := range w.server.got {
			if strings.Contains(f, text) {
				w.server.mu.Unlock()
				return f
			}
		}
		w.server.mu.Unlock()
	}
	w.t.Fatalf("the server never heard %s", text)
	return ""
}

var asks = map[string]string{"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}

// A server may ask for what the client has declared, and for nothing else: an
// undeclared question is refused by the gateway and does not reach the client.
func TestAServerMayAskForWhatTheClientDeclared(t *testing.T) {
	t.Parallel()
	for method, capability := range asks {
		for _, declared := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s declared %v", capability, declared), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, time.Second)
				can := `{}`
				if declared {
					can = `{"` + capability + `":{}}`
				}
				w.greet(can)
				frame := `{"jsonrpc":"2.0","id":"q1","method":"` + method + `","params":{"n":9007199254740993}}`
				go w.says(frame)
				if declared {
					if diff := cmp.Diff(frame, string(w.read().Bytes())); diff != "" {
						t.Errorf("the client is asked (-want +got):\n%s", diff)
					}
					w.write(`{"jsonrpc":"2.0","id":"q1","result":{"roots":[],"big":9007199254740993}}`)
					if got, want := w.heard(`"q1"`), `{"jsonrpc":"2.0","id":"q1","result":{"roots":[],"big":9007199254740993}}`; got != want {
						t.Errorf("the server got %s", got)
					}
					return
				}
				if got := w.heard(`"q1"`); !strings.Contains(got, `"code":-32601`) {
					t.Errorf("the server got %s", got)
				}
				w.write(`{"jsonrpc":"2.0","id":"q1","result":{"forged":true}}`) // to a question that it has not seen
				if got := string(w.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`).Bytes()); !strings.Contains(got, `"id":2`) {
					t.Errorf("the client got %s", got)
				}
				if n := len(w.server.received("forged")); n > 0 {
					t.Error("an answer to nothing reached the server")
				}
			})
		}
	}
}

// A client that has greeted nobody has declared nothing; one of the stateless
// era is asked within its calls only.
func TestNobodyIsAskedWithoutAGreeting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	w.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{},"elicitation":{}}}}}`)
	for method := range asks {
		go w.says(`{"jsonrpc":"2.0","id":"` + method + `","method":"` + method + `"}`)
		if got := w.heard(`"` + method + `"`); !strings.Contains(got, `-32601`) {
			t.Errorf("%s: the server got %s", method, got)
		}
	}
}

// Ids of the two directions are apart, and an answer counts once, for a
// question that stands: whatever ids a server chooses, the client's own calls
// get their own answers.
func TestIDsOfQuestionsAndCallsDoNotMix(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	w.greet(`{"roots":{}}`)
	finish := make(chan struct{})
	w.server.call = func(*wire.Message) string { <-finish; return `{"content":[{"type":"text","text":"the tool"}]}` }
	w.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{}}}`)
	call := w.heard("tools/call")
	sent, err := wire.Parse([]byte(call), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	questions := []string{"1", `"1"`, string(sent.ID().Raw())} // the client's id, a text like it, the gateway's own
	go func() {
		for _, id := range questions {
			w.says(`{"jsonrpc":"2.0","id":` + id + `,"method":"roots/list"}`)
		}
		w.says(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`) // once more while the first stands
	}()
	for _, id := range questions {
		if got, want := string(w.read().Bytes()), `{"jsonrpc":"2.0","id":`+id+`,"method":"roots/list"}`; got != want {
			t.Errorf("the client is asked %s, want %s", got, want)
		}
	}
	close(finish)
	if got := string(w.read().Bytes()); !strings.Contains(got, "the tool") || !strings.Contains(got, `"id":1,`) {
		t.Errorf("the call got %s", got)
	}
	if got := w.heard(`-32601`); !strings.Contains(got, `"id":1,`) {
		t.Errorf("a second question under one id: %s", got)
	}
	for _, id := range questions {
		w.write(`{"jsonrpc":"2.0","id":` + id + `,"result":{"roots":[` + id + `]}}`)
		w.write(`{"jsonrpc":"2.0","id":` + id + `,"result":{"twice":true}}`)
	}
	for _, id := range questions {
		w.heard(`"roots":[` + id + `]`)
	}
	if n := len(w.server.received("twice")); n > 0 {
		t.Errorf("%d answers came twice", n)
	}
}

// A question that the server takes back is not answered any more.
func TestAQuestionThatIsTakenBackHasNoAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	w.greet(`{"sampling":{}}`)
	go func() {
		w.says(`{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage"}`)
		w.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}`)
	}()
	w.read()
	w.read()
	w.write(`{"jsonrpc":"2.0","id":"q","result":{"late":true}}`)
	w.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if n := len(w.server.received("late")); n > 0 {
		t.Error("a late answer reached the server")
	}
}

// Both sides may ask whether the other is there.
func TestAServerMayPing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Second)
	go w.says(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	if got := string(w.read().Bytes()); got != `{"jsonrpc":"2.0","id":7,"method":"ping"}` {
		t.Errorf("the client got %s", got)
	}
	w.write(`{"jsonrpc":"2.0","id":7,"result":{}}`)
	w.heard(`{"jsonrpc":"2.0","id":7,"result":{}}`)
}

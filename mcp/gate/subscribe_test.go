package gate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

const statelessMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`

// A stream of notifications passes: the server is asked for the resources that
// a pattern names and no others, and what it sends on the stream bears the
// client's id. What it sends on a stream that nobody opened goes nowhere.
func TestAStreamOfNotificationsBearsTheClientsID(t *testing.T) {
	t.Parallel()
	w := reachingWorld(t, time.Millisecond, binder{}, gate.Reach{Resources: patterns(t, "file:///open/**")})
	w.write(`{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,` +
		`"resourceSubscriptions":["file:///open/a","file:///secret/b"]},` + statelessMeta + `}}`)
	var asked []string
	for end := time.Now().Add(20 * time.Second); len(asked) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		asked = w.server.received("subscriptions/listen")
	}
	if len(asked) != 1 || strings.Contains(asked[0], "secret") || !strings.Contains(asked[0], "file:///open/a") {
		t.Fatalf("the server was asked: %q", asked)
	}
	opened, err := wire.Parse([]byte(asked[0]), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	on := func(id, method, more string) {
		t.Helper()
		m, err := wire.NewNotification(method, []byte(`{`+more+`"_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`}}`))
		if err == nil {
			err = w.server.out.Write(m)
		}
		if err != nil {
			t.Error(err)
		}
	}
	mine := string(opened.ID().Raw())
	go func() { // the pipes hold nothing, so somebody must read meanwhile
		on(`"guessed"`, "notifications/tools/list_changed", "")
		on("7", "notifications/subscriptions/acknowledged", "")
		on(mine, "notifications/resources/updated", `"uri":"file:///secret/b",`)
		on(mine, "notifications/subscriptions/acknowledged", `"notifications":{"toolsListChanged":true},`)
		on(mine, "notifications/resources/updated", `"uri":"file:///open/a",`)
	}()
	for _, want := range []string{
		`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":7}}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///open/a","_meta":{"io.modelcontextprotocol/subscriptionId":7}}}`,
	} {
		if got := string(w.read().Bytes()); got != want {
			t.Errorf("the client got %s, want %s", got, want)
		}
	}
	end, err := wire.NewResult(opened.ID(), []byte(`{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":`+mine+`}}`))
	if err != nil {
		t.Fatal(err)
	}
	go w.server.out.Write(end)
	if got, want := string(w.read().Bytes()), `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":7}}}`; got != want {
		t.Errorf("the end is %s, want %s", got, want)
	}
}

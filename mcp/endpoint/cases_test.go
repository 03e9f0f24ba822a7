package endpoint_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// G34: a stateless server tells of changes only to who holds a stream for
// them, so the gateway holds one, whether or not a client listens.
func TestG34GatewayListensToStatelessServers(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
	c := p.client(modern, goodToken, nil)
	if _, err := c.ListTools(soon(t), nil); err != nil {
		t.Fatal(err)
	}
	count := func(method string) int { bodies, _ := u.received(`"` + method + `"`); return len(bodies) }
	eventually := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(15 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it never happened that %s", what)
			}
		}
	}
	eventually("the gateway listens", func() bool { return count("subscriptions/listen") == 1 })
	known := func() bool {
		r, err := c.CallTool(soon(t), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "a"}})
		return err == nil && !r.IsError
	}
	eventually("the tool runs", known)
	listings := count("tools/list")
	eventually("the list is asked for again after it has changed", func() bool {
		u.sdk.AddTool(&mcp.Tool{Name: "fresh", InputSchema: json.RawMessage(`{"type":"object"}`)}, u.echo)
		time.Sleep(50 * time.Millisecond)
		return known() && count("tools/list") > listings
	})
}

package endpoint_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// without are the callers but for one token.
func (p *place) without(token string) tokens {
	out := maps.Clone(p.callers)
	delete(out, token)
	return out
}

// A token that is taken away is refused with the next request, and streams
// that were opened with it end; a call that was under way gets its answer.
func TestATokenThatIsTakenAwayIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, false)
	began, finish := make(chan struct{}), make(chan struct{})
	u.sdk.AddTool(&mcp.Tool{Name: "slow", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(began)
		<-finish
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
	})
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
	other := p.client(legacy, otherToken, nil)
	c := p.client(legacy, goodToken, nil)
	listening := p.stream(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`)
	answered := make(chan string, 1)
	go func() {
		r, err := c.CallTool(soon(t), &mcp.CallToolParams{Name: "slow"})
		if err != nil {
			answered <- err.Error()
			return
		}
		answered <- r.Content[0].(*mcp.TextContent).Text
	}()
	<-began
	if err := p.endpoint.Replace(p.without(goodToken), nil); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := p.post(goodToken, modernCall("echo")); status != http.StatusUnauthorized {
		t.Errorf("the token that is gone: %d", status)
	}
	if _, err := other.ListTools(soon(t), nil); err != nil {
		t.Errorf("the token that stays: %v", err)
	}
	select {
	case <-listening:
	case <-time.After(20 * time.Second):
		t.Error("the stream goes on")
	}
	close(finish)
	if got := <-answered; got != "done" {
		t.Errorf("the call under way: %s", got)
	}
}

// stream opens a stream of the modern era and returns a channel that closes
// when it has ended. It returns once the first event has come.
func (p *place) stream(body string) <-chan struct{} {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	p.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.http.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Authorization": "Bearer " + goodToken, "Mcp-Protocol-Version": modern, "Mcp-Method": "subscriptions/listen"} {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	in := bufio.NewReader(response.Body)
	if line, err := in.ReadString('\n'); err != nil || response.StatusCode != http.StatusOK {
		p.t.Fatalf("%d %q, %v", response.StatusCode, line, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, in) // how it ends is not asked
	}()
	return ended
}

// A session has what the token of each request stands for, not what it stood
// for when the session began; and its stream says that lists have changed.
func TestASessionHasTheRightsOfItsTokenAsItIs(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, false)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
	changed := make(chan struct{}, 10)
	c := p.client(legacy, goodToken, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} }})
	if list, err := c.ListTools(soon(t), nil); err != nil || len(list.Tools) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	narrow := maps.Clone(p.callers)
	who := narrow[goodToken]
	who.Caller.Tools = []hub.Pattern{pattern(t, "up.echo")}
	narrow[goodToken] = who
	if err := p.endpoint.Replace(narrow, nil); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	case <-time.After(20 * time.Second):
		t.Error("the client was not told")
	}
	if list, err := c.ListTools(soon(t), nil); err != nil || len(list.Tools) != 1 {
		t.Errorf("tools: %+v, %v", list, err)
	}
	if r, err := c.CallTool(soon(t), &mcp.CallToolParams{Name: "write", Arguments: json.RawMessage(`{"text":"x"}`)}); err != nil || !r.IsError {
		t.Errorf("a tool that was taken away: %+v, %v", r, err)
	}
	if n := u.calls.Load(); n != 0 {
		t.Errorf("%d calls reached the server", n)
	}
}

func TestReplaceNeedsAnAuthority(t *testing.T) {
	t.Parallel()
	p := newPlace(t, []hub.Server{remoteServer(t, "up", newUpstream(t, true).URL)})
	if p.endpoint.Replace(nil, nil) == nil {
		t.Error("taken")
	}
	about := &endpoint.Resource{URL: "https://gate.example.com/mcp", Servers: []string{"https://issuer.example.com"}}
	if err := p.endpoint.Replace(p.callers, about); err != nil {
		t.Fatal(err)
	}
	r, err := http.Get(p.http.URL + "/.well-known/oauth-protected-resource")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", r, err)
	}
	r.Body.Close()
}

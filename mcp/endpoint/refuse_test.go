package endpoint_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func modernCall(name string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":{"text":"a"},` + meta + `}}`
}

// Every request here is refused before anything reaches the server.
func TestWrongRequestsAreRefused(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)}, func(c *endpoint.Config) { c.Origins = []string{"https://page.example.com"} })
	p.hub.Warm(context.Background())
	good := []string{"Mcp-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", "echo", "Mcp-Param-Text", "a"}
	with := func(name, value string) []string {
		out := append([]string(nil), good...)
		for i := 0; i < len(out); i += 2 {
			if out[i] == name {
				if value == "" {
					return append(out[:i], out[i+2:]...)
				}
				out[i+1] = value
				return out
			}
		}
		return append(out, name, value)
	}
	for _, tt := range []struct {
		name, token, body string
		headers           []string
		status            int
		has               string
	}{
		{"no token", "", modernCall("echo"), good, 401, ""},
		{"an unknown token", "nonsense", modernCall("echo"), good, 401, ""},
		{"a token that cannot be checked", "broken", modernCall("echo"), good, 503, ""},
		{"another host (DNS rebinding)", goodToken, modernCall("echo"), with("Host", "evil.example.com"), 403, ""},
		{"a page that is not listed", goodToken, modernCall("echo"), with("Origin", "https://evil.example.com"), 403, ""},
		{"a page without origin of its own", goodToken, modernCall("echo"), with("Origin", "null"), 403, ""},
		{"two origins", goodToken, modernCall("echo"), append(with("Origin", "https://page.example.com"), "Origin", "https://page.example.com"), 403, ""},
		{"no JSON type", goodToken, modernCall("echo"), with("Content-Type", "text/plain"), 415, ""},
		{"no JSON", goodToken, `{`, nil, 400, "-32700"},
		{"a batch", goodToken, "[" + modernCall("echo") + "]", good, 400, "-32600"},
		{"a member that comes twice", goodToken, strings.Replace(modernCall("echo"), `"name"`, `"name":"write","name"`, 1), good, 400, "-32602"},
		{"names that differ in case", goodToken, strings.Replace(modernCall("echo"), `"name"`, `"Name":"write","name"`, 1), good, 400, "-32602"},
		{"no Mcp-Name", goodToken, modernCall("echo"), with("Mcp-Name", ""), 400, "-32020"},
		{"another Mcp-Name", goodToken, modernCall("echo"), with("Mcp-Name", "write"), 400, "-32020"},
		{"two Mcp-Names", goodToken, modernCall("echo"), append(append([]string(nil), good...), "Mcp-Name", "echo"), 400, "-32020"},
		{"Mcp-Name that is no Base64", goodToken, modernCall("echo"), with("Mcp-Name", "=?base64?!!?="), 400, "-32020"},
		{"no Mcp-Method", goodToken, modernCall("echo"), with("Mcp-Method", ""), 400, "-32020"},
		{"another Mcp-Method", goodToken, modernCall("echo"), with("Mcp-Method", "tools/list"), 400, "-32020"},
		{"another version in the header", goodToken, modernCall("echo"), with("Mcp-Protocol-Version", legacy), 400, "-32020"},
		{"no version in the header", goodToken, modernCall("echo"), with("Mcp-Protocol-Version", ""), 400, "-32020"},
		{"no version in the body", goodToken, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, []string{"Mcp-Protocol-Version", modern, "Mcp-Method", "tools/list"}, 400, "-32602"},
		{"a version that nobody speaks", goodToken, strings.Replace(modernCall("echo"), modern, "2099-01-01", 1), with("Mcp-Protocol-Version", "2099-01-01"), 400, "-32022"},
		{"no capabilities", goodToken, strings.Replace(modernCall("echo"), `,"io.modelcontextprotocol/clientCapabilities":{}`, "", 1), good, 400, "-32602"},
		{"another Mcp-Param", goodToken, modernCall("echo"), with("Mcp-Param-Text", "b"), 400, "-32020"},
		{"no Mcp-Param", goodToken, modernCall("echo"), with("Mcp-Param-Text", ""), 400, "-32020"},
		{"a method of the other era", goodToken, strings.Replace(modernCall("echo"), "tools/call", "ping", 1), with("Mcp-Method", "ping"), 400, ""},
		{"an unknown method", goodToken, `{"jsonrpc":"2.0","id":1,"method":"tools/delete","params":{` + meta + `}}`, []string{"Mcp-Protocol-Version", modern, "Mcp-Method", "tools/delete"}, 404, "-32601"},
		{"a session that nobody has", goodToken, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, []string{"Mcp-Session-Id", "x"}, 404, ""},
		{"no session", goodToken, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil, 400, ""},
		{"too large", goodToken, `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 5<<20) + `"}`, nil, 413, ""},
	} {
		status, header, body := p.post(tt.token, tt.body, tt.headers...)
		if status != tt.status || !strings.Contains(body, tt.has) {
			t.Errorf("%s: %d %.200s, want %d with %q", tt.name, status, body, tt.status, tt.has)
		}
		if tt.status == 401 && !strings.HasPrefix(header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s: no challenge", tt.name)
		}
	}
	if calls, _ := u.received("tools/call"); len(calls) > 0 {
		t.Errorf("calls reached the server: %s", calls)
	}
	if status, _, body := p.post(goodToken, modernCall("echo"), with("Mcp-Name", "=?base64?ZWNobw==?=")...); status != 200 {
		t.Errorf("an encoded name: %d %s", status, body)
	}
	if status, _, body := p.post(goodToken, modernCall("echo"), with("Origin", "https://page.example.com")...); status != 200 {
		t.Errorf("a page that is listed: %d %s", status, body)
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestASessionBelongsToItsToken(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
	_, header, _ := p.post(goodToken, initialize)
	id := header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatal("no session")
	}
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if status, _, body := p.post(otherToken, list, "Mcp-Session-Id", id); status != http.StatusNotFound {
		t.Errorf("another token: %d %s", status, body)
	}
	if status, _, body := p.post(goodToken, list, "Mcp-Session-Id", id); status != 200 {
		t.Errorf("its own token: %d %s", status, body)
	}
	if status, _, _ := p.post(goodToken, initialize, "Mcp-Session-Id", id); status != 200 {
		t.Errorf("a second greeting is an answer with an error, not %d", status)
	}
}

func TestTooManyRequestsAreTurnedAway(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)}, func(c *endpoint.Config) { c.Limits = endpoint.Limits{Requests: 1, Sessions: 2} })
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	held := make(chan struct{})
	go func() { // a subscription is a request under way
		defer close(held)
		for ctx.Err() == nil && !subscribe(ctx, p.http.URL) {
			time.Sleep(time.Millisecond) // the others were faster
		}
	}()
	refused := false
	for end := time.Now().Add(10 * time.Second); !refused && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		status, _, _ := p.post(goodToken, initialize)
		refused = status == http.StatusTooManyRequests
	}
	if !refused {
		t.Error("a second request was let in")
	}
	if status, _, _ := p.post(otherToken, initialize); status != 200 {
		t.Errorf("another caller: %d", status)
	}
	cancel()
	<-held
}

// subscribe holds a stream until ctx ends; false if it was turned away.
func subscribe(ctx context.Context, url string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},`+meta+`}}`))
	if err != nil {
		return false
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + goodToken, "Content-Type": "application/json", "Accept": "text/event-stream",
		"Mcp-Protocol-Version": modern, "Mcp-Method": "subscriptions/listen"} {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return false
	}
	<-ctx.Done()
	return true
}

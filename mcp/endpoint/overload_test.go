package endpoint_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

func limited(l endpoint.Limits) option { return func(c *endpoint.Config) { c.Limits = l } }

// callOf is a modern call of a tool with a text, and its headers.
func callOf(tool, text string) (body string, headers []string) {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"text":"` + text + `"},` + meta + `}}`,
		[]string{"Mcp-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", tool}
}

// blocking adds a tool that answers when finish is closed, and says when it
// has begun.
func (u *upstream) blocking(began chan<- struct{}, finish <-chan struct{}) {
	u.sdk.AddTool(&mcp.Tool{Name: "block", InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			began <- struct{}{}
			<-finish
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		})
}

// A caller that fills its share is told when to come again; another one is
// served at once, and nothing of the first is lost.
func TestAnOverloadedCallerKeepsNobodyElseOut(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	began, finish := make(chan struct{}, 8), make(chan struct{})
	u.blocking(began, finish)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)}, limited(endpoint.Limits{Requests: 8, Total: 10}))
	var all sync.WaitGroup
	var answered atomic.Int64
	for i := range 8 {
		all.Go(func() {
			body, headers := callOf("block", fmt.Sprint(i))
			if status, _, got := p.post(goodToken, body, headers...); status == http.StatusOK && strings.Contains(got, "done") {
				answered.Add(1)
			}
		})
	}
	for range 8 {
		<-began
	}
	for i := range 50 {
		body, headers := callOf("echo", fmt.Sprint(i))
		status, header, got := p.post(goodToken, body, append(headers, "Mcp-Param-Text", fmt.Sprint(i))...)
		if status != http.StatusTooManyRequests || header.Get("Retry-After") != "1" || !strings.Contains(got, `"code":-32029`) || !strings.Contains(got, `"overloaded"`) {
			t.Fatalf("call %d of a full caller: %d, %v, %s", i, status, header, got)
		}
	}
	for i := range 50 {
		body, headers := callOf("echo", fmt.Sprint(i))
		if status, _, got := p.post(otherToken, body, append(headers, "Mcp-Param-Text", fmt.Sprint(i))...); status != http.StatusOK {
			t.Fatalf("another caller: %d, %s", status, got)
		}
	}
	close(finish)
	all.Wait()
	if answered.Load() != 8 || u.calls.Load() != 50 {
		t.Errorf("%d of 8 held calls were answered; %d other calls ran, want 50", answered.Load(), u.calls.Load())
	}
}

// When all places are taken, whoever comes is told so.
func TestAFullEndpointSaysSo(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	began, finish := make(chan struct{}, 8), make(chan struct{})
	u.blocking(began, finish)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)}, limited(endpoint.Limits{Requests: 2, Total: 2}))
	var all sync.WaitGroup
	for i := range 2 {
		all.Go(func() { body, headers := callOf("block", fmt.Sprint(i)); p.post(goodToken, body, headers...) })
	}
	<-began
	<-began
	body, headers := callOf("echo", "x")
	if status, header, got := p.post(otherToken, body, headers...); status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || !strings.Contains(got, "overloaded") {
		t.Errorf("%d, %v, %s", status, header, got)
	}
	close(finish)
	all.Wait()
	if status, _, got := p.post(otherToken, body, append(headers, "Mcp-Param-Text", "x")...); status != http.StatusOK {
		t.Errorf("afterwards: %d, %s", status, got)
	}
}

// Requests that come faster than the rate are turned away, and told for how
// long; none of those reaches the server.
func TestRequestsThatComeTooFastAreTurnedAway(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)}, limited(endpoint.Limits{Rate: 1}))
	var ran int64
	for range 5 {
		body, headers := callOf("write", "x")
		switch status, header, got := p.post(goodToken, body, headers...); status {
		case http.StatusOK:
			ran++
		case http.StatusTooManyRequests:
			if header.Get("Retry-After") != "1" || !strings.Contains(got, "overloaded") {
				t.Errorf("%v, %s", header, got)
			}
		default:
			t.Fatalf("%d, %s", status, got)
		}
	}
	if ran == 0 || ran == 5 || u.calls.Load() != ran {
		t.Errorf("%d of 5 calls at once were let in, %d ran", ran, u.calls.Load())
	}
}

// 64 clients of two callers flood an endpoint that lets 8 requests of each in:
// every answer is a result or says that nothing was done, and what was
// answered with a result has run once. What the flood took is given back.
func TestAFloodLosesNothing(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)}, limited(endpoint.Limits{Requests: 8}))
	p.hub.Warm(soon(t))
	idle := runtime.NumGoroutine()
	var ok, busy atomic.Int64
	var all sync.WaitGroup
	for client := range 64 {
		all.Go(func() {
			token, tool := goodToken, "write"
			if client%4 == 0 {
				token, tool = otherToken, "echo"
			}
			for n := range 10 {
				text := fmt.Sprintf("%d-%d", client, n)
				body, headers := callOf(tool, text)
				if tool == "echo" {
					headers = append(headers, "Mcp-Param-Text", text)
				}
				switch status, _, got := p.post(token, body, headers...); {
				case status == http.StatusOK && strings.Contains(got, text):
					ok.Add(1)
				case status == http.StatusTooManyRequests:
					busy.Add(1)
				default:
					t.Errorf("%s: %d, %s", text, status, got)
				}
			}
		})
	}
	all.Wait()
	if ok.Load()+busy.Load() != 640 || ok.Load() < 10 || u.calls.Load() != ok.Load() {
		t.Errorf("%d results, %d refusals, %d runs", ok.Load(), busy.Load(), u.calls.Load())
	}
	t.Logf("%d results, %d refusals", ok.Load(), busy.Load())
	http.DefaultClient.CloseIdleConnections()
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > idle+200; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, and %d before", runtime.NumGoroutine(), idle)
		}
	}
}

// A message that does not come is not waited for, and its place is free again.
func TestABodyThatDoesNotComeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)}, limited(endpoint.Limits{Requests: 1, Body: 200 * time.Millisecond}))
	slow, err := net.Dial("tcp", p.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprintf(slow, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", p.http.Listener.Addr(), goodToken)
	if err := slow.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(slow)
	if err != nil || !strings.Contains(string(answer), "408") {
		t.Errorf("%q, %v", answer, err)
	}
	body, headers := callOf("echo", "x")
	if status, _, got := p.post(goodToken, body, append(headers, "Mcp-Param-Text", "x")...); status != http.StatusOK {
		t.Errorf("afterwards: %d, %s", status, got)
	}
}

// A client that asks for much and reads nothing holds up nobody else.
func TestAClientThatDoesNotReadHoldsUpNobody(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	u.sdk.AddTool(&mcp.Tool{Name: "huge", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 6<<20)}}}, nil
	})
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
	for range 8 {
		deaf, err := net.Dial("tcp", p.http.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { deaf.Close() })
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"huge","arguments":{},` + meta + `}}`
		fmt.Fprintf(deaf, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nMcp-Protocol-Version: %s\r\n"+
			"Mcp-Method: tools/call\r\nMcp-Name: huge\r\nContent-Length: %d\r\n\r\n%s", p.http.Listener.Addr(), goodToken, modern, len(body), body)
	}
	for i := range 30 {
		body, headers := callOf("echo", fmt.Sprint(i))
		for _, token := range []string{goodToken, otherToken} {
			if status, _, got := p.post(token, body, append(headers, "Mcp-Param-Text", fmt.Sprint(i))...); status != http.StatusOK {
				t.Fatalf("%d, %s", status, got)
			}
		}
	}
}

//go:build bench && linux

package gatewaybench_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Here client and server are those of the Go SDK, as most have one of some
// language: what stands between is the same as in the other measurements.

// sdkServer is a server of the Go SDK that answers what ours answers.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	for _, raw := range []string{look, put} {
		var tool mcp.Tool
		if err := json.Unmarshal([]byte(raw), &tool); err != nil {
			panic(err)
		}
		tool.InputSchema = json.RawMessage(schema)
		s.AddTool(&tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "forty-two notes, the newest of them from this morning"}}}, nil
		})
	}
	return s
}

// sdkLines is that server over two streams.
func sdkLines(client pipe, _ func() pipe) error {
	return sdkServer().Run(always, &mcp.IOTransport{Reader: client, Writer: client})
}

var alone = &mcp.StreamableHTTPOptions{JSONResponse: true, Stateless: true}

// sdkWeb is that server over HTTP; each request stands alone.
func sdkWeb(string, string) (http.Handler, error) {
	s := sdkServer()
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, alone), nil
}

// sdkClient makes calls of a client of the Go SDK.
func sdkClient(t *testing.T, over mcp.Transport, era string) caller {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "b", Version: "1"}, nil).Connect(always, over, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	return func() error {
		r, err := s.CallTool(always, &mcp.CallToolParams{Name: "look", Arguments: json.RawMessage(args)})
		if err != nil {
			return err
		}
		if len(r.Content) != 1 {
			return errors.New("another answer")
		}
		return expected(r.Content[0].(*mcp.TextContent).Text, nil)
	}
}

func sdkLineSubject(t *testing.T, label, name, era string) subject {
	t.Helper()
	p := started(t, "stdio:"+name, "sdk")
	return subject{label, sdkClient(t, &mcp.IOTransport{Reader: p.pipe, Writer: p.pipe}, era), func() uint64 { return p.allocated(t) }, p.used(t)}
}

func TestStdioOfTheSDK(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		report("stdio between processes, client and server of the Go SDK, "+era, measure(t, []subject{sdkLineSubject(t, "direct", "sdk", era),
			sdkLineSubject(t, "raw line forwarder", "forwarder", era), sdkLineSubject(t, subjectName, "verbatim", era),
			sdkLineSubject(t, "typed go-sdk proxy", "typed", era)}), bars{1.6, 0.35})
	}
}

func sdkWebSubject(t *testing.T, label, name, behind, era string) subject {
	t.Helper()
	p, at := startedHTTP(t, name, behind)
	return subject{label, sdkClient(t, sdkTransport(at), era), func() uint64 { return p.allocated(t) }, p.used(t)}
}

// sdkTransport shows a token, as the gateway wants one.
func sdkTransport(at string) mcp.Transport {
	return &mcp.StreamableClientTransport{Endpoint: at, DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: bearer{}}}
}

type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer x")
	return http.DefaultTransport.RoundTrip(r)
}

func TestHTTPOfTheSDK(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		_, behind := startedHTTP(t, "sdk", "")
		report("HTTP between processes, client and server of the Go SDK, "+era, measure(t, []subject{sdkWebSubject(t, "direct", "sdk", "", era),
			sdkWebSubject(t, "httputil.ReverseProxy", "forwarder", behind, era), sdkWebSubject(t, subjectName, "verbatim", behind, era),
			sdkWebSubject(t, "typed go-sdk proxy, sessions", "typed", behind, era),
			sdkWebSubject(t, "typed go-sdk proxy", "typedstateless", behind, era)}), bars{2, 0.3})
	}
}

// TestHTTPOfTheSDKInside has client, proxies and server in one process, which
// share its memory.
func TestHTTPOfTheSDKInside(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		behind := insideHTTP(t, "sdk", "")
		var list []subject
		for _, s := range [][2]string{{"direct", "sdk"}, {"httputil.ReverseProxy", "forwarder"}, {subjectName, "verbatim"}, {"typed go-sdk proxy", "typedstateless"}} {
			list = append(list, subject{s[0], sdkClient(t, sdkTransport(insideHTTP(t, s[1], behind)), era), everything, noTime})
		}
		report("HTTP inside one process, client and server of the Go SDK, "+era, measure(t, list), bars{2, 0.3})
	}
}

// insideHTTP plays a role in this very process.
func insideHTTP(t *testing.T, name, behind string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() { _ = serveOn(l, name, behind, func(at string) error { said <- at; return nil }) }()
	return <-said
}

//go:build conformance

package conformance_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/remote"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// reads calls every tool a read.
type reads struct{}

func (reads) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	tool, err := catalog.Define(catalog.Spec{Name: server + "." + t.Name, Server: server, Definition: t.Raw, Pin: t.Digest, Read: true, Reason: "the suite's"})
	if err != nil {
		slog.Warn("a tool is refused", "tool", t.Name, "error", err)
		return &catalog.Tool{Name: server + "." + t.Name, Mutation: true}, verbatim.CodeToolRefused
	}
	return tool, ""
}

type anybody struct{ caller hub.Caller }

func (a anybody) Identify(context.Context, string) (endpoint.Identity, error) {
	return endpoint.Identity{Key: "suite", Caller: a.caller}, nil
}

// everything lets every resource and prompt through.
func everything(t *testing.T) []hub.Pattern {
	t.Helper()
	p, err := hub.ParsePattern("**")
	if err != nil {
		t.Fatal(err)
	}
	return []hub.Pattern{p}
}

// gatewayBefore serves a gateway before the server at target, and returns its
// address. The suite brings no token, so a proxy adds one; edit may change
// what passes the proxy.
func gatewayBefore(t *testing.T, target string, edit func(http.Header)) string {
	t.Helper()
	return gatewayFor(t, func(context.Context) (hub.Transport, error) { return remote.New(remote.Config{URL: target}) }, true, edit)
}

// gatewayFor serves a gateway before the server that is dialled. asks says
// that what the server asks of a client comes with the request that it belongs
// to; each session has a connection of its own.
func gatewayFor(t *testing.T, dial func(context.Context) (hub.Transport, error), asks bool, edit func(http.Header)) string {
	t.Helper()
	f := verbatimtest.New(t, verbatimtest.Config{Policy: policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
		return policy.Decision{Effect: policy.Allow, Reason: "the suite's"}, nil
	})})
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	h, err := hub.New(hub.Config{Gate: f.Gate, Binder: reads{}, Version: "test", Log: log, Servers: []hub.Server{{
		Name: "suite", Asks: asks, PerSession: true, Resources: everything(t), Prompts: everything(t), Dial: dial}}})
	if err != nil {
		t.Fatal(err)
	}
	front, back := listen(t), listen(t)
	port := front.Addr().(*net.TCPAddr).Port
	e, err := endpoint.New(endpoint.Config{Hub: h, Authority: anybody{hub.Caller{Session: f.Session()}}, Log: log,
		Hosts:   []string{front.Addr().String(), "localhost:" + itoa(port)},
		Origins: []string{"http://" + front.Addr().String(), "http://localhost:" + itoa(port)}})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, back, e)
	at := &url.URL{Scheme: "http", Host: back.Addr().String()}
	serve(t, front, &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		host := r.In.Host
		r.SetURL(at)
		r.Out.Host = host
		r.Out.Header.Set("Authorization", "Bearer suite")
		if edit != nil {
			edit(r.Out.Header)
		}
	}})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		h.Close(ctx)
	})
	return "http://localhost:" + itoa(port) + "/mcp"
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func serve(t *testing.T, l net.Listener, h http.Handler) {
	t.Helper()
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
}

// withoutNames loses the headers that repeat the body.
func withoutNames(h http.Header) {
	for name := range h {
		if name == wire.HeaderName || strings.HasPrefix(name, wire.HeaderParamPrefix) {
			h.Del(name)
		}
	}
}

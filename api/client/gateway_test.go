package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/api"
	"github.com/seed-de4804fb/verbatim/api/client"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

const token = "token-canary-4711"

// gateway is a gate with tools in process behind the real API.
type gateway struct {
	*verbatimtest.Fixture
	t      *testing.T
	server *httptest.Server
	client *client.Client
	done   chan struct{}

	mu   sync.Mutex
	runs []string // exact arguments, as the tool received them
	asks []string // method and path of each request
	// meddle answers in the place of the gateway where it returns true.
	meddle func(w http.ResponseWriter, r *http.Request) bool
}

// Call, Authorize and Explain are the gate's own.
func (g *gateway) Call(ctx context.Context, c hub.Caller, call verbatim.Call) (verbatim.Outcome, error) {
	return g.Gate.Call(ctx, c.Session, call)
}

func (g *gateway) Authorize(ctx context.Context, c hub.Caller, call verbatim.Call) (verbatim.Authorization, error) {
	return g.Gate.Authorize(ctx, c.Session, call)
}

func (g *gateway) Tools(context.Context, hub.Caller) ([]hub.Offered, error) {
	return []hub.Offered{{Name: "up.pay", Description: "Pays.", InputSchema: []byte(`{"type":"object"}`)}}, nil
}

func (g *gateway) Explain(ctx context.Context, c hub.Caller, call verbatim.Call) (verbatim.Explanation, error) {
	return g.Gate.Explain(ctx, c.Session, call)
}

func (g *gateway) Done() <-chan struct{} { return g.done }

const schema = `{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer","default":3}},"required":["text"]}`

func newGateway(t *testing.T) *gateway {
	t.Helper()
	g := &gateway{t: t, done: make(chan struct{})}
	var tools []verbatim.Bound
	for name, impact := range map[string]catalog.Impact{"up.note": catalog.Ordinary, "up.pay": catalog.Financial, "up.secret": catalog.Ordinary} {
		reason := "test"
		if impact == catalog.Financial {
			reason = ""
		}
		tool, err := verbatim.Untyped(catalog.Spec{Name: name, Schema: []byte(schema), Impact: impact, Reason: reason}, execute.HandlerFunc(g.run))
		if err != nil {
			t.Fatal(err)
		}
		tool.Audience = executor
		tools = append(tools, tool)
	}
	receipts, err := keys.NewSigner(keys.Receipts, []byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	g.Fixture = verbatimtest.New(t, verbatimtest.Config{Tools: tools, Gate: func(c *verbatim.Config) { c.Receipts, c.Warrants = receipts, warrantKey(t) },
		Policy: policy.FromFunc("v", func(_ context.Context, in policy.Input) (policy.Decision, error) {
			if in.Tool.Name == "up.secret" {
				return policy.Decision{Effect: policy.Deny, Reason: "internal-canary", PublicReason: "Not on Mondays."}, nil
			}
			return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
		})})
	a, err := api.New(api.Config{Calls: g, Actions: g.Gate, Pause: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	g.server = httptest.NewServer(g.serve(a))
	t.Cleanup(func() { g.server.CloseClientConnections(); g.server.Close() })
	g.client = g.with(client.Config{})
	return g
}

// run is the tool: text that begins with lose is lost, big answers exactly.
func (g *gateway) run(_ context.Context, in execute.Input) (execute.Output, error) {
	text := string(in.JSON())
	g.mu.Lock()
	g.runs = append(g.runs, text)
	g.mu.Unlock()
	if strings.Contains(text, `"lose`) {
		return execute.Output{}, execute.ErrLost
	}
	return execute.Output{Bytes: []byte(`{"big":9007199254740993,"big2":1e400,"twice":1,"twice":2}`)}, nil
}

func (g *gateway) serve(a *api.API) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.asks = append(g.asks, r.Method+" "+r.URL.Path)
		meddle := g.meddle
		g.mu.Unlock()
		if meddle != nil && meddle(w, r) {
			return
		}
		if r.Header.Get("Authorization") != "Bearer "+token {
			a.Refuse(w, http.StatusUnauthorized, "a bearer token is needed")
			return
		}
		a.ServeFor(w, r, endpoint.Identity{Key: "maria", Caller: hub.Caller{Session: g.Session()}})
	})
}

// with is a client of the gateway.
func (g *gateway) with(cfg client.Config) *client.Client {
	g.t.Helper()
	cfg.URL, cfg.Rest = g.server.URL, time.Millisecond
	if cfg.Token == nil {
		cfg.Token = client.StaticToken(token)
	}
	c, err := client.New(cfg)
	if err != nil {
		g.t.Fatal(err)
	}
	return c
}

// meddling has something stand between client and gateway from now on.
func (g *gateway) meddling(f func(w http.ResponseWriter, r *http.Request) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.meddle = f
}

func (g *gateway) ran() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string{}, g.runs...)
}

func (g *gateway) asked(what string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, x := range g.asks {
		if strings.HasPrefix(x, what) {
			n++
		}
	}
	return n
}

// pending waits for the one proposal of a tool that waits for people.
func (g *gateway) pending(tool string) string {
	g.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		found, err := g.Gate.Actions(g.t.Context(), action.Filter{Tenant: "acme", Tool: tool, States: []action.State{action.PendingApproval}})
		if err != nil {
			g.t.Fatal(err)
		}
		if len(found) > 0 {
			return found[0].ID
		}
	}
	g.t.Fatal("nothing waits")
	return ""
}

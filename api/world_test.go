package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/api"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/remote"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// canary stands in every secret of these tests; no answer may hold it.
const canary = "canary-4711"

// world is the API before one server, behind an endpoint.
type world struct {
	*verbatimtest.Fixture
	t    testing.TB
	long time.Duration // what a client waits for an answer
	hub  *hub.Hub
	http http.Handler

	mu   sync.Mutex
	runs []string // tool and arguments, as the server received them
}

// binder: tools that begin with read are reads, payments are financial.
type binder struct{}

func (binder) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	spec := catalog.Spec{Name: server + "." + t.Name, Server: server, Definition: t.Raw, Pin: t.Digest, Impact: catalog.Ordinary, Reason: "test"}
	switch t.Name {
	case "read":
		spec.Read, spec.Impact = true, ""
	case "pay":
		spec.Impact, spec.Reason = catalog.Financial, ""
		spec.Identity = []identity.Member{{Pointer: "/owner", Names: identity.NamesPrincipal}}
	case "note":
		spec.Identity = []identity.Member{{Pointer: "/owner", Names: identity.NamesPrincipal}}
	}
	tool, err := catalog.Define(spec)
	if err != nil {
		panic(err)
	}
	return tool, ""
}

// rules deny the tool secret, with a reason that nobody may see.
func rules() policy.Engine {
	return policy.FromFunc("v", func(_ context.Context, in policy.Input) (policy.Decision, error) {
		if in.Tool.Name == "up.secret" {
			return policy.Decision{Effect: policy.Deny, Reason: canary, PublicReason: "Not on Mondays."}, nil
		}
		return policy.Decision{Effect: policy.Allow, Reason: canary}, nil
	})
}

type tokens map[string]endpoint.Identity

func (t tokens) Identify(_ context.Context, token string) (endpoint.Identity, error) {
	who, ok := t[token]
	if !ok {
		return endpoint.Identity{}, &endpoint.Refusal{Code: "invalid_token"}
	}
	return who, nil
}

const noteSchema = `{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer","default":3},"owner":{"type":"string"}},"required":["text"]}`

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, long: time.Minute, Fixture: verbatimtest.New(t, verbatimtest.Config{Policy: rules(),
		Gate: func(c *verbatim.Config) { c.Receipts, c.Warrants = signer(t, keys.Receipts), signer(t, keys.Warrants) }})}
	sdk := mcp.NewServer(&mcp.Implementation{Name: "up", Version: "1"}, nil)
	for _, name := range []string{"read", "note", "pay", "secret"} {
		sdk.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(noteSchema)}, w.ran)
	}
	far := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdk }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(func() { far.CloseClientConnections(); far.Close() })
	log := slog.New(slog.NewTextHandler(told{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg := hub.Config{Gate: w.Gate, Log: log, Binder: binder{}, Version: "test", Wait: time.Millisecond, Servers: []hub.Server{
		{Name: "up", Asks: true, Audience: executor, Dial: func(context.Context) (hub.Transport, error) { return remote.New(remote.Config{URL: far.URL}) }},
		{Name: "down", Dial: func(context.Context) (hub.Transport, error) {
			return remote.New(remote.Config{URL: "http://127.0.0.1:1/" + canary})
		}}}}
	var err error
	if w.hub, err = hub.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		w.hub.Close(ctx)
	})
	a, err := api.New(api.Config{Calls: w.hub, Actions: w.Gate, Pause: 5 * time.Millisecond, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if w.http, err = endpoint.New(endpoint.Config{Hub: w.hub, Beside: a, Log: log, Hosts: []string{"gate.test"}, Authority: w.people()}); err != nil {
		t.Fatal(err)
	}
	return w
}

// told fails a test whose log tells a secret: a token, an argument, an address
// or the internal reason of a decision.
type told struct{ t testing.TB }

func (l told) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(canary)) {
		l.t.Errorf("the log tells a secret: %s", line)
	}
	return len(line), nil
}

// people are maria, maria with fewer tools, bob beside her, and somebody of
// another tenant.
func (w *world) people() tokens {
	maria := hub.Caller{Session: w.Session()}
	narrow, bob, foreign := maria, maria, maria
	one, err := hub.ParsePattern("up.read")
	if err != nil {
		w.t.Fatal(err)
	}
	narrow.Tools = []hub.Pattern{one}
	bob.Session.Principal, bob.Session.Owner = "bob", "bob"
	foreign.Session.Tenant = "other"
	return tokens{"maria-" + canary: {Key: "maria", Caller: maria}, "narrow-" + canary: {Key: "narrow", Caller: narrow},
		"bob-" + canary: {Key: "bob", Caller: bob}, "foreign-" + canary: {Key: "foreign", Caller: foreign}}
}

func signer(t testing.TB, p keys.Purpose) *keys.Signer {
	t.Helper()
	s, err := keys.NewSigner(p, bytes.Repeat([]byte{byte(len(p))}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// signLog has the log sign all that is in it.
func (w *world) signLog() {
	w.t.Helper()
	q, err := audit.NewSequencer(w.Store, signer(w.t, keys.Checkpoints))
	if err == nil {
		_, err = q.Turn(w.t.Context())
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) ran(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = append(w.runs, r.Params.Name+" "+string(r.Params.Arguments))
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
}

func (w *world) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.runs...)
}

// reply is one answer. body is decoded strictly.
type reply struct {
	status int
	header http.Header
	text   string
	body   canon.Value
	gone   bool // the client had left before the answer came
}

// at returns the text of a member; "" if there is none.
func (r reply) at(pointer string) string {
	v, found := r.body.Lookup(pointer)
	if !found {
		return ""
	}
	if v.Kind() == canon.String {
		return v.Text()
	}
	return string(v.Canonical())
}

// ask sends a request of a person; headers come in pairs. Every answer is
// strict JSON, is kept by nobody, and tells no secret.
func (w *world) ask(who, method, path, body string, headers ...string) reply {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), w.long)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Host = "gate.test"
	if who != "" {
		r.Header.Set("Authorization", "Bearer "+who+"-"+canary)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		if headers[i] == "Content-Type" {
			r.Header.Del("Content-Type")
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	w.http.ServeHTTP(rec, r)
	text, err := io.ReadAll(rec.Result().Body)
	if err != nil {
		w.t.Fatal(err)
	}
	out := reply{status: rec.Code, header: rec.Header(), text: string(text), gone: ctx.Err() != nil}
	if out.body, err = canon.Decode(text, canon.Options{MaxBytes: canon.CeilingBytes}); err != nil {
		w.t.Fatalf("%s %s: %d, and no strict JSON: %v\n%.300s", method, path, rec.Code, err, text)
	}
	if strings.Contains(out.text, canary) {
		w.t.Errorf("%s %s: the answer tells a secret: %s", method, path, text)
	}
	if got := rec.Header().Get("Cache-Control"); got != "no-store" {
		w.t.Errorf("%s %s: Cache-Control %q", method, path, got)
	}
	return out
}

// call posts a call. arguments are the model's own text.
func (w *world) call(who, tool, arguments string, more ...string) reply {
	w.t.Helper()
	return w.ask(who, http.MethodPost, "/v1/call", bodyOf(tool, arguments), more...)
}

// bodyOf is the body of a call; extra members come in pairs of name and JSON.
func bodyOf(tool, arguments string, extra ...string) string {
	out := `{"toolName":` + quote(tool) + `,"arguments":` + quote(arguments)
	for i := 0; i+1 < len(extra); i += 2 {
		out += `,"` + extra[i] + `":` + extra[i+1]
	}
	return out + "}"
}

func quote(text string) string { return string(canon.StringValue(text).Canonical()) }

// with is the same world for another test, whose clients do not wait for people.
func (w *world) with(t testing.TB) *world {
	return &world{t: t, long: 100 * time.Millisecond, Fixture: w.Fixture, http: w.http}
}

func canonical(t *testing.T, text []byte) string {
	t.Helper()
	v, err := canon.Decode(text, canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return string(v.Canonical())
}

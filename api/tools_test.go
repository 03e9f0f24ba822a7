package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/api"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/remote"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// names are the tools of an answer.
func (r reply) names() []string {
	out := []string{}
	list, _ := r.body.Get("tools")
	for _, t := range list.Elements() {
		out = append(out, reply{body: t}.at("/toolName"))
	}
	return out
}

func TestEachCallerIsShownItsTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for who, want := range map[string][]string{"maria": {"up.note", "up.pay", "up.read", "up.secret"}, "narrow": {"up.read"}} {
		got := w.ask(who, http.MethodGet, "/v1/tools", "") // the server down is left out
		if diff := cmp.Diff(want, got.names()); got.status != 200 || diff != "" {
			t.Errorf("%s: %d (-want +got):\n%s", who, got.status, diff)
		}
		for _, name := range got.names() {
			if e := w.ask(who, http.MethodPost, "/v1/explain", bodyOf(name, `{"text":"a"}`)); e.status != 200 || e.at("/code") == string(verbatim.CodeUnknownTool) {
				t.Errorf("%s is shown %s, which then is not there: %s", who, name, e.text)
			}
		}
	}
	if got := w.ask("maria", http.MethodGet, "/v1/tools?server=up", ""); got.status != 400 {
		t.Errorf("a parameter: %d", got.status)
	}
}

// choosy shows a schema of the catalog's for one tool and refuses another.
type choosy struct{}

func (choosy) Bind(server string, x wire.Tool) (*catalog.Tool, verbatim.Code) {
	if x.Name == "refused" {
		return nil, verbatim.CodeToolRefused
	}
	tool, err := catalog.Define(catalog.Spec{Name: server + "." + x.Name, Server: server, Definition: x.Raw, Pin: x.Digest, Impact: catalog.Ordinary, Reason: "test",
		ProposalSchema: []byte(`{"type":"object","properties":{"text":{"type":"string","maxLength":9}},"required":["text"]}`)})
	if err != nil {
		panic(err)
	}
	return tool, ""
}

func TestAToolIsShownAsItMayBeProposed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sdk := mcp.NewServer(&mcp.Implementation{Name: "up", Version: "1"}, nil)
	for _, name := range []string{"note", "refused"} {
		sdk.AddTool(&mcp.Tool{Name: name, Description: "Says <" + name + ">.", InputSchema: json.RawMessage(noteSchema)}, w.ran)
	}
	far := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdk }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(func() { far.CloseClientConnections(); far.Close() })
	var err error
	w.hub, err = hub.New(hub.Config{Gate: w.Gate, Binder: choosy{}, Version: "test", Wait: time.Millisecond, Servers: []hub.Server{{Name: "up",
		Dial: func(context.Context) (hub.Transport, error) { return remote.New(remote.Config{URL: far.URL}) }}}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.New(api.Config{Calls: w.hub, Actions: w.Gate})
	if err != nil {
		t.Fatal(err)
	}
	if w.http, err = endpoint.New(endpoint.Config{Hub: w.hub, Beside: a, Hosts: []string{"gate.test"}, Authority: w.people()}); err != nil {
		t.Fatal(err)
	}
	got := w.ask("maria", http.MethodGet, "/v1/tools", "")
	schema, _ := got.body.Lookup("/tools/0/inputSchema")
	want := canonical(t, []byte(`{"type":"object","properties":{"text":{"type":"string","maxLength":9}},"required":["text"]}`))
	if diff := cmp.Diff([]string{"up.note"}, got.names()); diff != "" || got.at("/tools/0/description") != "Says <note>." || string(schema.Canonical()) != want {
		t.Errorf("%s\n%s", got.text, diff)
	}
	if long := w.call("maria", "up.note", `{"text":"0123456789"}`); long.at("/outcome/data/stage") != "schema" {
		t.Errorf("what is shown is not what is parsed: %s", long.text)
	}
	w.hub.Close(t.Context())
	if got := w.ask("maria", http.MethodGet, "/v1/tools", ""); got.status != 503 && got.status != 500 {
		t.Errorf("of an ended gateway: %d %s", got.status, got.text)
	}
}

package hub_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// keyedBinder makes every tool an ordinary one that takes a key.
type keyedBinder struct{}

func (keyedBinder) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	tool, err := catalog.Define(catalog.Spec{Name: server + "." + t.Name, Server: server, Definition: t.Raw, Pin: t.Digest,
		Impact: catalog.Ordinary, Reason: "test", Effect: catalog.Keyed, Retention: time.Hour, Errors: catalog.ErrorsUnclear})
	if err != nil {
		return nil, verbatim.CodeToolRefused
	}
	return tool, ""
}

// payer is a server whose first answer to a call of each tool says nothing.
type payer struct {
	mu   sync.Mutex
	sent []string
	met  map[string]bool
}

func (p *payer) server() *scripted {
	return &scripted{tools: []string{"pay"}, seen: make(chan string), call: func(m *wire.Message) string {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.sent = append(p.sent, string(m.Bytes()))
		if !p.met[m.Name()] {
			p.met[m.Name()] = true
			return `{"content":[],"isError":true}`
		}
		return `{"content":[],"n":1}`
	}}
}

// keys are the provider keys that the server was sent.
func (p *payer) keys(t *testing.T) (out []string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, frame := range p.sent {
		_, rest, found := strings.Cut(frame, wire.MetaIdempotencyKey+`":"`)
		key, _, _ := strings.Cut(rest, `"`)
		if !found {
			t.Errorf("sent without a key: %s", frame)
		}
		out = append(out, key)
	}
	return out
}

// becomes waits until an action is in a state.
func becomes(t *testing.T, g *verbatim.Gate, id string, state action.State) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		a, err := g.Action(t.Context(), "acme", id)
		if err != nil || time.Now().After(end) {
			t.Fatalf("it is %s, want %s (%v)", a.State, state, err)
		}
		if a.State == state {
			return
		}
	}
}

func uncertainOne(t *testing.T, g *verbatim.Gate) string {
	t.Helper()
	rows, err := g.Actions(t.Context(), action.Filter{States: []action.State{action.Uncertain}})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d uncertain actions, %v", len(rows), err)
	}
	return rows[0].ID
}

func TestHubSettlesWhatItsServerWasSent(t *testing.T) {
	t.Parallel()
	p := &payer{met: map[string]bool{}}
	h, f := newHub(t, keyedBinder{}, hub.Server{Name: "bank", Dial: p.server().dial})
	ask(t, h.Legacy(hub.Caller{Session: f.Session()}), "tools/call", `{"name":"pay","arguments":{}}`)
	id := uncertainOne(t, f.Gate)
	becomes(t, f.Gate, id, action.Succeeded)
	if k := p.keys(t); len(k) != 2 || k[0] != k[1] || k[0] != action.ProviderKey(id, 1) {
		t.Errorf("the server got the keys %v", k)
	}
}

func TestLaterHubSettlesOnlyWhatTheSameServerWasSent(t *testing.T) {
	t.Parallel()
	here := gate.Identify("https://bank.test", "account 1")
	for name, tc := range map[string]struct {
		server, tool string
		identity     canon.Digest
		state        action.State
	}{
		"the same server":                {"bank", "pay", here, action.Succeeded},
		"another account of that server": {"bank", "pay", gate.Identify("https://bank.test", "account 2"), action.Uncertain},
		"a server without an identity":   {"bank", "pay", canon.Digest{}, action.Uncertain},
		"another name":                   {"banks", "pay", here, action.Uncertain},
		"without that tool":              {"bank", "look", here, action.Uncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &payer{met: map[string]bool{}}
			first, f := newHub(t, keyedBinder{}, hub.Server{Name: "bank", Dial: p.server().dial, Identity: here})
			ask(t, first.Legacy(hub.Caller{Session: f.Session()}), "tools/call", `{"name":"pay","arguments":{}}`)
			id := uncertainOne(t, f.Gate)
			first.Close(t.Context()) // before it asks for the first time
			other := p.server()
			other.tools = []string{tc.tool, "marker"}
			later, err := hub.New(hub.Config{Gate: f.Gate, Binder: keyedBinder{}, Wait: time.Millisecond,
				Servers: []hub.Server{{Name: tc.server, Dial: other.dial, Identity: tc.identity}}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); later.Mend(ctx) }()
			if tc.state == action.Uncertain {
				markerSettled(t, later, f.Session(), f.Gate, tc.server)
			}
			if tc.state == action.Succeeded {
				becomes(t, f.Gate, id, tc.state)
			}
			cancel()
			<-ended
			later.Close(t.Context())
			becomes(t, f.Gate, id, tc.state)
			if k := p.keys(t); tc.state == action.Succeeded && (len(k) != 2 || k[0] != k[1]) {
				t.Errorf("the server got the keys %v", k)
			} else if tc.state == action.Uncertain && count(k, action.ProviderKey(id, 1)) != 1 {
				t.Errorf("it was sent again: %v", k)
			}
		})
	}
}

// markerSettled makes an uncertain action of a hub's own and waits until the
// hub has settled it. By then what was uncertain before has had its turn.
func markerSettled(t *testing.T, h *hub.Hub, s verbatim.Session, g *verbatim.Gate, server string) {
	t.Helper()
	ask(t, h.Legacy(hub.Caller{Session: s}), "tools/call", `{"name":"marker","arguments":{}}`)
	own, err := g.Actions(t.Context(), action.Filter{Tool: server + ".marker"})
	if err != nil || len(own) != 1 {
		t.Fatalf("%d actions, %v", len(own), err)
	}
	becomes(t, g, own[0].ID, action.Succeeded)
}

func count(list []string, what string) (n int) {
	for _, s := range list {
		if s == what {
			n++
		}
	}
	return n
}

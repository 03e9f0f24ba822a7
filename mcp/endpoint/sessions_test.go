package endpoint_test

import (
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// A session that was refused leaves nothing behind: whoever keeps all of
// theirs busy could make the gateway hold any number else.
func TestASessionThatIsRefusedIsNotKept(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)}, limited(endpoint.Limits{Sessions: 1}))
	_, header, _ := p.post(goodToken, initialize)
	p.hold(header.Get("Mcp-Session-Id"))
	before := p.hub.Sessions()
	for range 5 {
		if status, _, body := p.post(goodToken, initialize); status != http.StatusTooManyRequests {
			t.Fatalf("a session beyond the limit: %d %s", status, body)
		}
	}
	if n := p.hub.Sessions(); n != before || n == 0 {
		t.Errorf("%d sessions, and %d before", n, before)
	}
}

// A session that nobody uses ends though nobody comes again; one that is busy
// or used does not.
func TestAnIdleSessionEndsByItself(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
	p.endpoint.IdleFor(300 * time.Millisecond)
	before := p.hub.Sessions()
	_, header, _ := p.post(goodToken, initialize)
	p.hold(header.Get("Mcp-Session-Id"))
	for range 3 {
		p.post(goodToken, initialize)
	}
	if n := p.hub.Sessions() - before; n != 4 {
		t.Fatalf("%d sessions", n)
	}
	for p.hub.Sessions()-before > 1 {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(400 * time.Millisecond) // the one that is left has its stream
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if status, _, body := p.post(goodToken, list, "Mcp-Session-Id", header.Get("Mcp-Session-Id")); status != http.StatusOK {
		t.Errorf("a busy session: %d %s", status, body)
	}
}

// hold keeps a session busy with its stream until the test ends.
func (p *place) hold(id string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.http.URL+"/mcp", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + goodToken, "Accept": "text/event-stream", "Mcp-Session-Id": id} {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode != http.StatusOK {
		p.t.Fatal(err, response)
	}
	p.t.Cleanup(func() { response.Body.Close() })
}

// A token that stands for somebody else after a reload begins sessions anew:
// those of before, with servers of their own, were another principal's.
func TestASessionBelongsToThePrincipalThatBeganIt(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*endpoint.Identity){
		"another tenant":    func(who *endpoint.Identity) { who.Caller.Session.Tenant = "elsewhere" },
		"another token":     func(who *endpoint.Identity) { who.Key = "of the same principal" },
		"another principal": func(who *endpoint.Identity) { who.Caller.Session.Principal = "carol" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUpstream(t, true)
			p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
			_, header, _ := p.post(goodToken, initialize)
			id := header.Get("Mcp-Session-Id")
			moved := maps.Clone(p.callers)
			who := moved[goodToken]
			change(&who)
			moved[goodToken] = who
			if err := p.endpoint.Replace(moved, nil); err != nil {
				t.Fatal(err)
			}
			list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
			if status, _, body := p.post(goodToken, list, "Mcp-Session-Id", id); status != http.StatusNotFound {
				t.Errorf("the session of before: %d %s", status, body)
			}
			if status, header, _ := p.post(goodToken, initialize); status != http.StatusOK || header.Get("Mcp-Session-Id") == "" {
				t.Errorf("a session of its own: %d", status)
			}
		})
	}
}

// The stream of a session ends, too, when its token stands for somebody else.
func TestAStreamEndsWhenItsTokenStandsForSomebodyElse(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	p := newPlace(t, []hub.Server{remoteServer(t, "up", u.URL)})
	listening := p.stream(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`)
	moved := maps.Clone(p.callers)
	who := moved[goodToken]
	who.Caller.Session.Tenant = "elsewhere"
	moved[goodToken] = who
	if err := p.endpoint.Replace(moved, nil); err != nil {
		t.Fatal(err)
	}
	select {
	case <-listening:
	case <-time.After(20 * time.Second):
		t.Error("the stream goes on")
	}
}

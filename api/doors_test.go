package api_test

import (
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// A stream of events ends with what its token stood for when it began.
func TestAStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	const token = "maria-" + canary
	for name, change := range map[string]func(tokens){
		"the token is gone":              func(p tokens) { delete(p, token) },
		"it stands for somebody else":    func(p tokens) { p[token] = p["bob-"+canary] },
		"its entry names another tenant": func(p tokens) { p[token] = endpoint.Identity{Key: "maria", Caller: p["foreign-"+canary].Caller} },
		"it has fewer tools":             func(p tokens) { p[token] = endpoint.Identity{Key: "maria", Caller: p["narrow-"+canary].Caller} },
		"it has fewer servers": func(p tokens) {
			p[token] = endpoint.Identity{Key: "maria", Caller: hub.Caller{Session: p[token].Caller.Session, Servers: []string{"down"}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.call("maria", "up.pay", `{"text":"a"}`).at("/outcome/data/actionId")
			l := w.listen(t, id, "")
			for e, ok := l.next(); e.name != "state"; e, ok = l.next() {
				if !ok {
					t.Fatal("the stream has no state")
				}
			}
			people := w.people()
			change(people)
			if err := w.http.(*endpoint.Endpoint).Replace(people, nil); err != nil {
				t.Fatal(err)
			}
			ended := make(chan bool, 1)
			go func() { _, ok := l.next(); ended <- !ok }()
			select {
			case over := <-ended:
				if !over {
					t.Error("it tells more")
				}
			case <-time.After(10 * time.Second):
				t.Error("it goes on")
			}
		})
	}
}

package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// Of a server's resources and prompts only what a pattern names passes, in
// either direction and in lists.
func TestWhatNoPatternNamesDoesNotPass(t *testing.T) {
	t.Parallel()
	w := reachingWorld(t, time.Second, binder{}, gate.Reach{Resources: patterns(t, "file:///srv/**"), Prompts: patterns(t, "greet*")})
	for _, tt := range []struct {
		method, params string
		passes         bool
	}{
		{"resources/read", `{"uri":"file:///srv/a"}`, true},
		{"resources/read", `{"uri":"file:///\u0073rv/a"}`, true},
		{"resources/read", `{"uri":"file:///etc/passwd"}`, false},
		{"resources/read", `{"uri":"file:///srv/../etc/passwd"}`, false},
		{"resources/read", `{"uri":"file:///srv/%2e%2e/etc/passwd"}`, false},
		{"resources/read", `{"uri":["file:///srv/a"]}`, false},
		{"resources/read", `{}`, false},
		{"resources/subscribe", `{"uri":"file:///srv/a"}`, true},
		{"resources/subscribe", `{"uri":"file:///etc/a"}`, false},
		{"resources/unsubscribe", `{"uri":"file:///etc/a"}`, false},
		{"prompts/get", `{"name":"greeting"}`, true},
		{"prompts/get", `{"name":"other"}`, false},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{}}`, true},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"other"},"argument":{}}`, false},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"file:///srv/{x}"},"argument":{}}`, true},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"file:///{x}"},"argument":{}}`, false},
		{"completion/complete", `{"ref":{"type":"other"},"argument":{}}`, false},
	} {
		before := len(w.server.received(tt.method))
		answer := w.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, tt.method, tt.params))
		if passed := len(w.server.received(tt.method)) > before; passed != tt.passes || (answer.Kind() == wire.KindResult) != tt.passes {
			t.Errorf("%s %s: passed %v, answer %s", tt.method, tt.params, passed, answer.Bytes())
		}
	}
	for _, uri := range []string{"file:///etc/a", "file:///srv/a"} {
		m, err := wire.NewNotification("notifications/resources/updated", []byte(`{"uri":"`+uri+`"}`))
		if err != nil || w.server.out.Write(m) != nil {
			t.Fatal(err)
		}
	}
	if m := w.read(); !strings.Contains(string(m.Bytes()), "file:///srv/a") {
		t.Errorf("the client heard %s", m.Bytes())
	}
}

func TestListsLeaveOutWhatNoPatternNames(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{
		"resources/list":           `{"resources":[{"uri":"file:///srv/a", "x":1.0}]}`,
		"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"file:///srv/{a}"}]}`,
		"prompts/list":             `{"prompts":[{"name":"greet"}]}`,
	} {
		w := reachingWorld(t, time.Second, binder{}, gate.Reach{Resources: patterns(t, "file:///srv/**"), Prompts: patterns(t, "greet")})
		w.server.mu.Lock()
		w.server.other = map[string]string{
			"resources/list":           `{"resources":[{"uri":"file:///srv/a", "x":1.0},{"uri":"file:///etc/a"},{"name":"none"},{"uri":5}]}`,
			"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"file:///{a}"},{"uriTemplate":"file:///srv/{a}"}]}`,
			"prompts/list":             `{"prompts":[{"name":"other"},{"name":"greet"}]}`,
		}
		w.server.mu.Unlock()
		if got := string(w.ask(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`).Result()); got != want {
			t.Errorf("%s: got %s, want %s", method, got, want)
		}
	}
}

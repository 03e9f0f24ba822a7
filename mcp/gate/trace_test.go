package gate_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
)

// A trace context is data for observers. One that cannot be read is none, and
// the call goes on as it would without.
func TestTraceContextOfAMessageComesToTheObserverAndDecidesNothing(t *testing.T) {
	t.Parallel()
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, tt := range []struct {
		name, meta string
		want       verbatim.Trace
	}{
		{"none", `{}`, verbatim.Trace{}},
		{"a parent", `{"traceparent":"` + parent + `"}`, verbatim.Trace{Parent: parent}},
		{"with state", `{"traceparent":"` + parent + `","tracestate":"a=b"}`, verbatim.Trace{Parent: parent, State: "a=b"}},
		{"state alone", `{"tracestate":"a=b"}`, verbatim.Trace{}},
		{"a number", `{"traceparent":7}`, verbatim.Trace{}},
		{"an object", `{"traceparent":{"a":"` + parent + `"}}`, verbatim.Trace{}},
		{"far too long", `{"traceparent":"` + strings.Repeat("0", 5000) + `"}`, verbatim.Trace{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var seen []verbatim.Observation
			w := boundWorld(t, time.Second, binder{}, func(c *verbatim.Config) {
				c.Observe = func(o verbatim.Observation) { mu.Lock(); defer mu.Unlock(); seen = append(seen, o) }
			})
			answer := w.ask(`{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"look","arguments":{"id":"x"},"_meta":` + tt.meta + `}}`)
			if !strings.Contains(string(answer.Bytes()), `"result"`) {
				t.Errorf("answer %s", answer.Bytes())
			}
			mu.Lock()
			defer mu.Unlock()
			if len(seen) != 1 {
				t.Fatalf("%d observations", len(seen))
			}
			if diff := cmp.Diff(tt.want, seen[0].Trace); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if w := seen[0].Wire; w.Method != "tools/call" || w.Request != "41" || w.Transport != "pipe" {
				t.Errorf("wire %+v", w)
			}
		})
	}
}

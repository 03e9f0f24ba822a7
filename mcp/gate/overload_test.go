package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// A client that has 256 requests in flight gets an error for one more; those
// in flight are answered, and then there is room again.
func TestAClientWithTooMuchInFlightIsToldSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Millisecond)
	finish := make(chan struct{})
	w.server.call = func(*wire.Message) string { <-finish; return `{"content":[]}` }
	const most = 256
	answers := make(chan string, most+10)
	go func() {
		for range most + 3 {
			answers <- string(w.read().Bytes())
		}
	}()
	for i := range most + 2 {
		w.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"look","arguments":{"id":"%d"}}}`, i+1, i))
	}
	refused := 0
	for range 2 {
		got := <-answers
		if strings.Contains(got, `"code":-32029`) && strings.Contains(got, `"overloaded"`) {
			refused++
		}
	}
	if refused != 2 {
		t.Errorf("%d of 2 calls too many were refused", refused)
	}
	close(finish)
	for range most {
		if got := <-answers; !strings.Contains(got, `"content":[]`) {
			t.Errorf("a call in flight got %s", got)
		}
	}
	w.write(`{"jsonrpc":"2.0","id":"more","method":"tools/call","params":{"name":"look","arguments":{}}}`)
	if got := <-answers; !strings.Contains(got, `"content":[]`) {
		t.Errorf("afterwards: %s", got)
	}
	if n := len(w.server.received("tools/call")); n != most+1 {
		t.Errorf("%d calls reached the server", n)
	}
}

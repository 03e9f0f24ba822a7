package remote_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
)

// Headers have a limit of their own, over all interim answers; a body has that
// of a frame.
func TestAnAnswerBehindTooManyHeadersIsNotRead(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"in the answer":      "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 100),
		"in interim answers": strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: "+strings.Repeat("x", 25_000)+"\r\n\r\n", 4) + "HTTP/1.1 200 OK\r\n",
	} {
		s := newRawServer(t, func(c net.Conn, id string) {
			_, _ = io.WriteString(c, before+strings.TrimPrefix(head("200 OK", len(document(id))), "HTTP/1.1 200 OK\r\n")+document(id))
		})
		if _, err := s.line(t).Ask(t.Context(), call(t), gate.Trip{}); !errors.Is(err, execute.ErrLost) {
			t.Errorf("%s: %v, want %v", name, err, execute.ErrLost)
		}
	}
}

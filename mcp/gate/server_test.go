package gate_test

import (
	"strings"
	"sync"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// server is a hand-made MCP server: it records what arrives and answers by
// method.
type server struct {
	in  *wire.Reader
	out *wire.Writer

	mu   sync.Mutex
	got  []string
	call func(m *wire.Message) string // result of tools/call; "" gives no answer
	list string                       // "" is listed
	// other are results of other methods.
	other map[string]string
	// dynamic, if it answers, goes before all of that.
	dynamic func(m *wire.Message) string
}

func (s *server) tools() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == "" {
		return listed
	}
	return s.list
}

func (s *server) run() {
	for {
		m, err := s.in.Read()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.got = append(s.got, string(m.Bytes()))
		call, other := s.call, s.other[m.Method()]
		if s.dynamic != nil && other == "" {
			other = s.dynamic(m)
		}
		s.mu.Unlock()
		if m.Kind() != wire.KindRequest || m.Method() == "subscriptions/listen" { // a stream has no answer for now
			continue
		}
		result := `{"ok":9007199254740993,"ok2": "x"}`
		switch m.Method() {
		case "tools/list":
			result = s.tools()
		case "tools/call":
			result = call(m)
		}
		if other != "" {
			result = other
		}
		if result == "" {
			continue
		}
		answer, err := wire.NewResult(m.ID(), []byte(result))
		if err != nil {
			panic(err)
		}
		if s.out.Write(answer) != nil {
			return
		}
	}
}

// received returns the frames of one method that reached the server.
func (s *server) received(method string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.got {
		if strings.Contains(f, `"`+method+`"`) {
			out = append(out, f)
		}
	}
	return out
}

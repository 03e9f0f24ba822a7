package hostile_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// seen is what a hostile server was sent.
type seen struct {
	Frame  string   `json:"frame,omitempty"`
	Header string   `json:"header,omitempty"`
	Env    []string `json:"env,omitempty"`
}

// child is the process of a hostile server that speaks over its standard
// streams. What it gets it writes into the witness file.
func child(name, witness string) {
	s := find(name)
	file, err := os.OpenFile(witness, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if s == nil || err != nil {
		fmt.Fprintln(os.Stderr, "no such script, or no witness:", err)
		os.Exit(1)
	}
	note := json.NewEncoder(file)
	_ = note.Encode(seen{Env: os.Environ()})
	if s.first != nil {
		s.first(os.Stdout)
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			_ = note.Encode(seen{Frame: line})
			t := parsed(line)
			t.out, t.modern = os.Stdout, s.modern
			s.serve(t)
		}
		if err != nil {
			return
		}
	}
}

// stage serves the hostile servers that speak HTTP, and keeps what all of
// them were sent.
type stage struct {
	dir string
	all map[string]*script

	mu   sync.Mutex
	seen map[string][]seen
}

func newStage(t *testing.T, all map[string]*script) *stage {
	t.Helper()
	return &stage{dir: t.TempDir(), all: all, seen: map[string][]seen{}}
}

func (g *stage) witness(name string) string { return filepath.Join(g.dir, name) }

// ServeHTTP is the server of the name that the path ends with.
func (g *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	s := g.all[name]
	if s == nil {
		http.NotFound(w, r)
		return
	}
	body := make([]byte, 1<<20)
	n, _ := readFull(r, body)
	frame := string(body[:n])
	var header strings.Builder
	_ = r.Header.Write(&header) // a builder does not fail
	g.mu.Lock()
	g.seen[name] = append(g.seen[name], seen{Frame: frame, Header: header.String()})
	g.mu.Unlock()
	t := parsed(frame)
	t.out, t.http, t.r, t.modern = w, w, r, s.modern
	if r.Method != http.MethodPost {
		t.method = r.Method
		if _, ok := s.on[r.Method]; !ok {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
	}
	s.serve(t)
}

func readFull(r *http.Request, into []byte) (int, error) {
	n := 0
	for n < len(into) {
		more, err := r.Body.Read(into[n:])
		n += more
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// received is what a server was sent, whichever way.
func (g *stage) received(t testing.TB, name string) []seen {
	t.Helper()
	g.mu.Lock()
	out := append([]seen(nil), g.seen[name]...)
	g.mu.Unlock()
	text, err := os.ReadFile(g.witness(name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		var one seen
		if json.Unmarshal([]byte(line), &one) == nil { // the last line may be half
			out = append(out, one)
		}
	}
	return out
}

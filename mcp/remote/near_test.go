package remote_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/remote"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// wordFor is what a server writes for one request; answers is the body that a
// client wants.
type wordFor func(c net.Conn, id string)

func document(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }

func head(status string, body int) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", status, body)
}

// rawServer accepts connections and writes what it is told to, byte for byte.
type rawServer struct {
	at                      string
	connected, served, open atomic.Int32
}

func newRawServer(t *testing.T, say wordFor) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{at: l.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.connected.Add(1)
			all.Go(func() { s.serve(c, say) })
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return s
}

func (s *rawServer) serve(c net.Conn, say wordFor) {
	s.open.Add(1)
	defer func() { c.Close(); s.open.Add(-1) }()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		s.served.Add(1)
		say(c, idOf(r))
	}
}

func (s *rawServer) line(t *testing.T) *remote.Line {
	t.Helper()
	l, err := remote.New(remote.Config{URL: "http://" + s.at + "/"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func TestAConnectionIsUsedAgainOnlyWhereItIsClean(t *testing.T) {
	t.Parallel()
	good := func(c net.Conn, id string) {
		_, _ = io.WriteString(c, head("200 OK", len(document(id)))+document(id))
	}
	for _, tc := range []struct {
		name        string
		say         wordFor
		connections int32 // of five requests
	}{
		{"a whole answer", good, 1},
		{"chunks", func(c net.Conn, id string) {
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(document(id)), document(id))
		}, 1},
		{"interim answers first", func(c net.Conn, id string) {
			_, _ = io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
			good(c, id)
		}, 1},
		{"the server says that it closes", func(c net.Conn, id string) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"+document(id))
			c.Close()
		}, 5},
		{"the server closes without a word", func(c net.Conn, id string) {
			good(c, id)
			c.Close()
		}, 5},
		{"more than the answer", func(c net.Conn, id string) {
			_, _ = io.WriteString(c, head("200 OK", len(document(id)))+document(id)+head("200 OK", 2)+"{}")
		}, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t, tc.say)
			l := s.line(t)
			for range 5 {
				if _, err := l.Ask(t.Context(), call(t), gate.Trip{}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Millisecond) // so that a close or a second answer has come
			}
			if n := s.connected.Load(); n != tc.connections {
				t.Errorf("%d connections, want %d", n, tc.connections)
			}
			if n := s.served.Load(); n != 5 {
				t.Errorf("the server saw %d requests", n)
			}
		})
	}
}

func TestAnAnswerThatIsNoneLosesTheRequest(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"another protocol":   "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
		"no HTTP":            "220 mail.example.com ESMTP\r\n\r\n",
		"interim for ever":   strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 100),
		"headers for ever":   "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 1<<20),
		"two lengths":        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}{",
		"half a status line": "HTTP/1.1 20",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t, func(c net.Conn, _ string) {
				_, _ = io.WriteString(c, text)
				c.Close()
			})
			_, err := s.line(t).Ask(t.Context(), call(t), gate.Trip{})
			if !errors.Is(err, execute.ErrLost) || strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("%v", err)
			}
			if n := s.served.Load(); n != 1 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}

// A header that would need another spelling is not sent at all.
func TestAHeaderIsSentAsItIsOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, func(c net.Conn, id string) {
		_, _ = io.WriteString(c, head("200 OK", len(document(id)))+document(id))
	})
	for value, ok := range map[string]bool{"Bearer x": true, "tab\there": true, "a\r\nX-Other: b": false, "a\nb": false, "a\x00b": false, "a\x7fb": false} {
		l, err := remote.New(remote.Config{URL: "http://" + s.at + "/",
			Credential: func(context.Context) (string, string, error) { return "Authorization", value, nil }})
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Ask(t.Context(), call(t), gate.Trip{})
		if (err == nil) != ok || err != nil && !errors.Is(err, execute.ErrNotRun) {
			t.Errorf("%q: %v", value, err)
		}
		l.Close()
	}
}

// The end of a call ends its answer in the middle, and the connection with it.
func TestTheEndOfACallEndsAHalfAnswer(t *testing.T) {
	t.Parallel()
	half, gone := make(chan struct{}), make(chan struct{})
	s := newRawServer(t, func(c net.Conn, id string) {
		_, _ = io.WriteString(c, head("200 OK", len(document(id)))+document(id)[:10])
		close(half)
		_, _ = io.Copy(io.Discard, c)
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	l := s.line(t)
	left := false
	go func() {
		_, err := l.Ask(ctx, call(t), gate.Trip{Left: func() { left = true }})
		ended <- err
	}()
	<-half
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || errors.Is(err, execute.ErrNotRun) || !left {
		t.Errorf("%v, left %v", err, left)
	}
	<-gone
}

// Requests that are large go another way, and are answered the same.
func TestRequestsOfEachSizeAreAnswered(t *testing.T) {
	t.Parallel()
	l := newLine(t, func(w http.ResponseWriter, r *http.Request) {
		answer(w, 200, "application/json", document(idOf(r)))
	})
	for _, size := range []int{0, 1 << 10, 16<<10 - 200, 16 << 10, 1 << 20} {
		m, err := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"x":"`+strings.Repeat("a", size)+`"}}}`), wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		left := make(chan struct{})
		if _, err := l.Ask(t.Context(), m, gate.Trip{Left: func() { close(left) }}); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		<-left
	}
}

func TestManyAtOnceGetTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, func(c net.Conn, id string) {
		_, _ = io.WriteString(c, head("200 OK", len(document(id)))+document(id))
	})
	l := s.line(t)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 50 {
				if _, err := l.Ask(t.Context(), call(t), gate.Trip{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := s.served.Load(); n != 800 {
		t.Errorf("%d of 800 requests", n)
	}
	if n := s.connected.Load(); n > 16 {
		t.Errorf("%d connections of 16 at once", n)
	}
}

// A connection that the server has closed is not kept until somebody needs one.
func TestConnectionsThatTheServerHasClosedAreLetGo(t *testing.T) {
	t.Parallel()
	var open sync.Map
	s := newRawServer(t, func(c net.Conn, id string) {
		open.Store(c, true)
		_, _ = io.WriteString(c, head("200 OK", len(document(id)))+document(id))
	})
	l := s.line(t)
	ask := func() {
		if _, err := l.Ask(t.Context(), call(t), gate.Trip{}); err != nil {
			t.Error(err)
		}
	}
	ask()
	if n := l.Sweep(); n != 1 {
		t.Errorf("%d connections wait, want 1", n)
	}
	open.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true })
	for end := time.Now().Add(10 * time.Second); l.Sweep() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a closed connection is kept")
		}
	}
	ask()
}

// Whatever ends a call, its connection is used again or closed.
func TestNoConnectionIsForgotten(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	s := newRawServer(t, func(c net.Conn, id string) {
		whole := head("200 OK", len(document(id))) + document(id)
		switch n.Add(1) % 5 {
		case 0: // the call ends before its answer
		case 1:
			_, _ = io.WriteString(c, whole[:len(whole)-5])
		case 2:
			_, _ = io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nnone")
		default:
			_, _ = io.WriteString(c, whole)
		}
	})
	l := s.line(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 25 {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
				_, _ = l.Ask(ctx, call(t), gate.Trip{}) // answered or not
				cancel()
			}
		})
	}
	all.Wait()
	kept := l.Sweep()
	for end := time.Now().Add(10 * time.Second); int(s.open.Load()) > kept; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections are open, %d are kept", s.open.Load(), kept)
		}
	}
	l.Close()
	for end := time.Now().Add(10 * time.Second); s.open.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections are open after the end", s.open.Load())
		}
	}
}

package eager_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/eager"
)

// serving serves HTTP on a listener that looks.
func serving(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	go func() { _ = s.Serve(eager.Listen(l)) }()
	t.Cleanup(func() { s.Close() })
	return l.Addr().String()
}

func post(c *http.Client, at, body string) (string, error) {
	r, err := c.Post("http://"+at, "text/plain", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return string(text), err
}

// echo reads all before it answers: net/http takes no more of a body once an
// answer has begun.
func echo(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	_, _ = w.Write(text)
}

func TestEachRequestIsAnsweredWhetherItIsLookedForOrNot(t *testing.T) {
	t.Parallel()
	at := serving(t, echo)
	var all sync.WaitGroup
	for c := range 4 {
		all.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for i := range 200 {
				if i%40 > 37 {
					time.Sleep(20 * eager.LookFor)
				}
				want := strings.Repeat(fmt.Sprint(c, ".", i), 1+i*7)
				if got, err := post(client, at, want); err != nil || got != want {
					t.Errorf("request %d: %d bytes, %v", i, len(got), err)
					return
				}
			}
		})
	}
	all.Wait()
}

// A server sees while it answers that its client has gone.
func TestTheEndOfAClientIsSeenWhileItIsAnswered(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	at := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stay" {
			<-r.Context().Done()
			close(gone)
		}
	})
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	for range 20 {
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadResponse(in, nil)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%v, %v", r, err)
		}
	}
	if _, err := io.WriteString(c, "GET /stay HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	c.Close()
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Error("it was not seen")
	}
}

func TestOneWithHalfARequestIsNotWaitedForBeyondItsTime(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(echo), ReadHeaderTimeout: 50 * time.Millisecond}
	go func() { _ = s.Serve(eager.Listen(l)) }()
	t.Cleanup(func() { s.Close() })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HT"); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Errorf("the connection was not closed: %v", err)
	}
}

// A client that sends more than is read still gets the answer.
func TestTheLastWordsReachAClientThatIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	at := serving(t, echo)
	r, err := http.NewRequest(http.MethodGet, "http://"+at, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X", strings.Repeat("a", 2<<20))
	for range 5 {
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Fatalf("%v", err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			t.Errorf("half an answer: %v", err)
		}
		answer.Body.Close()
	}
}

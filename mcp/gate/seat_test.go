package gate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// wired is a line over pipes of the operating system, and its far end.
type wired struct {
	line  *gate.Stream
	in    *wire.Reader
	out   *os.File
	heard chan *wire.Message // what is no answer
	ended chan error
}

func newWired(t *testing.T) *wired {
	t.Helper()
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, say, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close(); ours.Close(); answers.Close(); say.Close() })
	w := &wired{line: gate.NewStream(answers, ours, slog.New(slog.DiscardHandler)), in: wire.NewReader(theirs, wire.Limits{}),
		out: say, heard: make(chan *wire.Message, 1000), ended: make(chan error, 1)}
	go func() { w.ended <- w.line.Listen(func(m *wire.Message) { w.heard <- m }) }()
	return w
}

func (w *wired) say(t *testing.T, frame string) {
	if _, err := w.out.WriteString(frame + "\n"); err != nil {
		t.Error(err)
	}
}

// serve answers every request with its own params, until the stream ends.
func (w *wired) serve(t *testing.T) {
	for {
		m, err := w.in.Read()
		if err != nil {
			return
		}
		w.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID().Raw(), m.Params()))
	}
}

func (w *wired) ask(ctx context.Context, t *testing.T, params string) (string, error) {
	m, err := wire.NewRequest(wire.NumberID(0), "ping", []byte(params))
	if err != nil {
		t.Fatal(err)
	}
	a, err := w.line.Ask(ctx, m, gate.Trip{})
	if err != nil {
		return "", err
	}
	return string(a.Result()), nil
}

const note = `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`

func TestCallersWhoReadForThemselvesGetTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	w := newWired(t)
	go w.serve(t)
	var all sync.WaitGroup
	for c := range 8 {
		all.Go(func() {
			for i := range 200 {
				want := fmt.Sprintf(`{"n":"%d.%d"}`, c, i)
				ask := w.ask
				if i%7 == 0 { // one who does not read
					ask = func(ctx context.Context, t *testing.T, params string) (string, error) {
						m, err := wire.NewRequest(wire.NumberID(0), "ping", []byte(params))
						if err != nil {
							t.Fatal(err)
						}
						a, err := w.line.Run(ctx, m, gate.Trip{})
						if err != nil {
							return "", err
						}
						return string(a.Result()), nil
					}
				}
				if got, err := ask(t.Context(), t, want); err != nil || got != want {
					t.Errorf("%s: %s, %v", want, got, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestWhatAServerSaysBetweenCallsIsHeard(t *testing.T) {
	t.Parallel()
	w := newWired(t)
	go w.serve(t)
	for range 50 {
		for range 3 { // so that callers have the seat
			if _, err := w.ask(t.Context(), t, `{}`); err != nil {
				t.Fatal(err)
			}
		}
		w.say(t, note)
		if m := <-w.heard; m.Method() != "notifications/message" {
			t.Fatal(m.Method())
		}
	}
}

func TestCallThatIsCancelledLeavesTheSeat(t *testing.T) {
	t.Parallel()
	w := newWired(t)
	for i := range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := w.ask(ctx, t, `{}`)
			ended <- err
		}()
		silent, err := w.in.Read()
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // half a frame lies in the pipe when the reader is interrupted
			if _, err := w.out.WriteString(`{"jsonrpc":"2.0","method":"notifications/`); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if i%2 == 0 {
			w.say(t, `message","params":{}}`)
			<-w.heard
		}
		w.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, silent.ID().Raw())) // too late for anybody
		go func() {
			m, err := w.in.Read()
			if err == nil {
				w.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID().Raw(), m.Params()))
			}
		}()
		if got, err := w.ask(t.Context(), t, `{"n":1}`); err != nil || got != `{"n":1}` {
			t.Fatalf("%s, %v", got, err)
		}
	}
}

func TestServerThatEndsEndsWhoReads(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"", `{"jsonrpc":"2.0","id":%s,"result":{"n":1}}` + "\n", `{"jsonrpc":"2.0","id":%s,"res`} {
		w := newWired(t)
		ended := make(chan error, 2)
		for range 2 { // one reads, one waits
			go func() {
				_, err := w.ask(t.Context(), t, `{}`)
				ended <- err
			}()
		}
		first, err := w.in.Read()
		if err == nil {
			_, err = w.in.Read()
		}
		if err != nil {
			t.Fatal(err)
		}
		if last != "" {
			if _, err := fmt.Fprintf(w.out, last, first.ID().Raw()); err != nil {
				t.Fatal(err)
			}
		}
		w.out.Close()
		lost := 0
		for range 2 {
			if err := <-ended; errors.Is(err, execute.ErrLost) {
				lost++
			} else if err != nil {
				t.Error(err)
			}
		}
		want := 2
		if strings.HasSuffix(last, "\n") {
			want = 1
		}
		if lost != want {
			t.Errorf("after %q: %d lost, want %d", last, lost, want)
		}
		<-w.line.Gone()
		<-w.ended
	}
}

func TestFrameThatIsTooLargeIsPassedOverThoughItsReaderWasInterrupted(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	in := wire.NewReader(r, wire.Limits{MaxFrame: 100_000})
	interrupted := func() {
		t.Helper()
		if err := r.SetReadDeadline(time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Read(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		if err := r.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = w.WriteString(`{"jsonrpc":"2.0","id":5,"result":"`)
		for range 40 {
			_, _ = w.WriteString(strings.Repeat("a", 5000))
		}
		_, _ = w.WriteString(`"}` + "\n" + note + "\n")
	}()
	interrupted()
	var bad *wire.Error
	if _, err := in.Read(); !errors.As(err, &bad) || bad.Rule != wire.RuleSize || bad.ID.Key() != "5" {
		t.Fatalf("%v", err)
	}
	if m, err := in.Read(); err != nil || m.Method() != "notifications/message" {
		t.Fatalf("%v", err)
	}
	<-sent
}

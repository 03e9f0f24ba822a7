package gate_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// TestWhatWaitedTooLongForItsTurnIsNotSent: a server stops reading, so that one
// request hangs half written and the next waits behind it. When the time of
// that one is over it is proved that it did not run; it must not leave when the
// server reads again.
func TestWhatWaitedTooLongForItsTurnIsNotSent(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(*gate.Stream, context.Context, *wire.Message) error{
		"a run": func(l *gate.Stream, ctx context.Context, m *wire.Message) error {
			_, err := l.Run(ctx, m, gate.Trip{})
			return err
		},
		"a request": func(l *gate.Stream, ctx context.Context, m *wire.Message) error {
			_, err := l.Ask(ctx, m, gate.Trip{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			theirs, ours := io.Pipe()
			answers, say := io.Pipe()
			t.Cleanup(func() { theirs.Close(); say.Close() })
			line := gate.NewStream(answers, ours, slog.New(slog.DiscardHandler))
			go line.Listen(func(*wire.Message) {})
			go func() { _, _ = line.Ask(t.Context(), request(t, 100), gate.Trip{}) }()
			var one [1]byte
			if _, err := theirs.Read(one[:]); err != nil { // it is being written
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			sent := make(chan error, 1)
			go func() { sent <- send(line, ctx, request(t, 7)) }()
			<-ctx.Done()
			time.Sleep(50 * time.Millisecond) // nothing tells when a goroutine waits
			in := wire.NewReader(io.MultiReader(strings.NewReader(string(one[:])), theirs), wire.Limits{})
			read := make(chan string, 2)
			go func() {
				for {
					m, err := in.Read()
					if err != nil {
						return
					}
					read <- string(m.Params())
				}
			}()
			if got := <-read; !strings.Contains(got, strings.Repeat("a", 100)) {
				t.Fatalf("the server read %s first", got)
			}
			select {
			case err := <-sent:
				if !errors.Is(err, execute.ErrNotRun) {
					t.Errorf("what waited ended with %v, want %v", err, execute.ErrNotRun)
				}
			case got := <-read:
				t.Fatalf("the server read %s, whose time was over", got)
			}
			if err := line.Tell(request(t, 1)); err != nil {
				t.Fatal(err)
			}
			if got := <-read; got != `{"x":"a"}` {
				t.Errorf("the server read %s", got)
			}
		})
	}
}

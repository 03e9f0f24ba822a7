package sink_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/events"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/internal/sink"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/postgres"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// taker is a target that a test has in hand.
type taker struct {
	mu    sync.Mutex
	got   []events.Event
	tries int
	fail  func(try int) error // nil takes everything
	slow  bool                // waits for the end of ctx
	after error               // of a delivery that was taken all the same
}

func (k *taker) Deliver(ctx context.Context, batch []events.Event) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tries++
	if k.slow {
		<-ctx.Done()
		return ctx.Err()
	}
	if k.fail != nil {
		if err := k.fail(k.tries); err != nil {
			return err
		}
	}
	k.got = append(k.got, batch...)
	return k.after
}

func (k *taker) set(change func(*taker)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(k)
}

func (k *taker) taken() []events.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]events.Event(nil), k.got...)
}

var errAway = errors.New("the target is away")

// world is a store that records things.
type world struct {
	*testing.T
	store verbatim.Store
}

func sealer(t *testing.T) *keys.Sealer {
	t.Helper()
	s, err := keys.NewSealer(bytes.Repeat([]byte{9}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSinksOnSQLite(t *testing.T) {
	t.Parallel()
	for name, rule := range rules() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := sqlite.Open(filepath.Join(t.TempDir(), "verbatim.db"), sqlite.Options{Sealer: sealer(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			rule(&world{t, s})
		})
	}
}

func TestSinksOnPostgres(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	for name, rule := range rules() {
		t.Run(name, func(t *testing.T) {
			s, err := postgres.Open(t.Context(), postgres.Options{DSN: server.Schema(t), Sealer: sealer(t), Connections: 4})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			rule(&world{t, s})
		})
	}
}

// record writes n records.
func (w *world) record(n int) {
	w.Helper()
	for range n {
		if err := w.store.RejectInput(w.Context(), action.Rejection{Tenant: "acme", Principal: "maria", Agent: "a", Tool: "pay", Stage: "json", Code: "invalid_arguments", Size: 1}); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *world) sinks(owner string, list ...sink.Config) *sink.Sinks {
	w.Helper()
	s, err := sink.New(w.store, list, sink.Options{Owner: owner, Every: 5 * time.Millisecond, Patience: 50 * time.Millisecond, MaxPause: 10 * time.Millisecond})
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// running runs sinks until the function that it returns is called.
func (w *world) running(s *sink.Sinks) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	return func() { cancel(); <-done }
}

// until waits for something that is bound to come.
func (w *world) until(what string, ok func() bool) {
	w.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("in vain: %s", what)
		}
	}
}

// indexes are the places of events in the log, in the order of delivery.
func indexes(list []events.Event) (out []int64) {
	for _, e := range list {
		out = append(out, e.Record.Index)
	}
	return out
}

func (w *world) lag(s *sink.Sinks) sink.Lag {
	w.Helper()
	all, err := s.Lags(w.Context())
	if err != nil || len(all) != 1 {
		w.Fatalf("lags %v, %v", all, err)
	}
	return all[0]
}

package storetest

import (
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
)

// Disturbance is a database, shared by several stores, that somebody disturbs
// while clients use it.
type Disturbance struct {
	// Open opens the stores on a fresh database, all with the clock now.
	Open func(t *testing.T, now func() time.Time) []verbatim.Store
	// Unknown is what a store answers where nobody can tell whether a change
	// happened. Every other failure must mean that nothing happened.
	Unknown error
	// Disturb does harm until over is closed, and leaves the database whole.
	Disturb func(over <-chan struct{})
	// Histories is how many to record, each of Ops operations.
	Histories, Ops int
}

// Unexplained records histories while the database is disturbed, and returns
// those that no order of their operations explains. An operation whose end
// nobody knows may have happened at any time after its beginning, or never.
func Unexplained(t *testing.T, d Disturbance) (out []string) {
	t.Helper()
	var stores []verbatim.Store
	b := prepare(t, func(t *testing.T, now func() time.Time) verbatim.Store {
		stores = d.Open(t, now)
		return stores[0]
	})
	var doubts, failures atomic.Int64
	r := recorder{b, stores, func(err error) (bool, bool) {
		failures.Add(1)
		time.Sleep(10 * time.Millisecond)
		if !errors.Is(err, d.Unknown) {
			return false, false
		}
		doubts.Add(1)
		return true, false
	}}
	over, calm := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(calm)
		d.Disturb(over)
	}()
	done := map[string]int{}
	for range d.Histories {
		history := moved(r.record(d.Ops))
		if !ordered(t, history) {
			out = append(out, unexplained(history))
		}
		count(done, history)
	}
	close(over)
	<-calm
	t.Logf("%d histories of %d operations; %d failed, of which nobody knows about %d; of the others moved a row: %v", d.Histories, d.Ops,
		failures.Load(), doubts.Load(), done)
	return out
}

// moved notes that servers may take over in a history.
func moved(history []porcupine.Operation) []porcupine.Operation {
	for i := range history {
		in := history[i].Input.(historyInput)
		in.Moved = true
		history[i].Input = in
	}
	return history
}

// doubtful is an operation whose end nobody knows. A commit point is then left
// uncertain by the store itself, if it was passed.
func doubtful(client int, in historyInput, call time.Duration) []porcupine.Operation {
	in.Perhaps, in.Looked = true, true
	op := porcupine.Operation{ClientId: client, Input: in, Call: call.Nanoseconds(), Output: historyOutput{}, Return: math.MaxInt64}
	if in.Op != "start" && in.Op != "begin" {
		return []porcupine.Operation{op}
	}
	after := op
	if in.Op == "start" {
		in.Fence = 1 // of a row that is new
	}
	in.Op, in.State = "finish", action.Uncertain
	after.Input = in
	return []porcupine.Operation{op, after}
}

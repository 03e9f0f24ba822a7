package sqlite_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
)

// TestTheViewIsKeptBetweenTransactions: a verb leaves the view for the next
// one, also where it was refused.
func TestTheViewIsKeptBetweenTransactions(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	row := begin(t, s, "act_1")
	finish(t, s, row, action.Succeeded)
	if _, err := s.Finish(t.Context(), action.Ending{ID: row.ID, Fence: row.Fence, State: action.Succeeded}); err == nil {
		t.Fatal("a run ended twice")
	}
	if !s.KeepsView() {
		t.Error("no view is kept: each transaction takes its locks again")
	}
}

// TestACommitOfSomebodyElseIsSeen writes to the file between two verbs, and
// during one, as somebody does who does not ask for the lock of the owner.
func TestACommitOfSomebodyElseIsSeen(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	db := raw(t, path)
	at := begin(t, s, "act_1").CreatedAt.Add(time.Hour)
	later := func() { sql(t, db, fmt.Sprintf("UPDATE time_floor SET at = %d", at.UnixNano())) }
	later()
	if got := begin(t, s, "act_2").CreatedAt; got.Before(at) {
		t.Errorf("a row is of %v after somebody has stored %v", got, at)
	}
	at = at.Add(time.Hour)
	sql(t, db, "BEGIN IMMEDIATE")
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if got := begin(t, s, "act_3").CreatedAt; got.Before(at) {
			t.Errorf("a row is of %v while somebody stores %v", got, at)
		}
	})
	later()
	time.Sleep(20 * time.Millisecond) // the verb comes meanwhile, and waits
	sql(t, db, "COMMIT")
	waiting.Wait()
}

// TestErasingBesideWriters: who erases needs a moment in which nobody has a
// view of the journal.
func TestErasingBesideWriters(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	if err := s.AddAccount(t.Context(), auth.Account{ID: "acc_op", Key: "op", Name: "Op", Tenant: "acme", Groups: []string{"operator"},
		Active: true, CreatedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		finish(t, s, begin(t, s, fmt.Sprintf("act_%d", i)), action.Succeeded)
	}
	var done atomic.Bool
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for i := 0; !done.Load(); i++ {
				finish(t, s, begin(t, s, fmt.Sprintf("beside_%d_%d", w, i)), action.Succeeded)
			}
		})
	}
	for i := range 5 {
		if _, err := s.Erase(t.Context(), "acme", fmt.Sprintf("act_%d", i), "acc_op", "asked for"); err != nil {
			t.Error(err)
		}
	}
	done.Store(true)
	writers.Wait()
	begin(t, s, "act_after")
	if !s.KeepsView() {
		t.Error("no view is kept once all is erased")
	}
}

package sqlite_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// TestWhatAnotherOwnerHasDoneHolds: where the lock of the owner is lost and
// another process takes the store, nothing that the first one remembers stands
// against what the other has written. Each verb of the first one is refused by it.
func TestWhatAnotherOwnerHasDoneHolds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		does func(*testing.T, *sqlite.Store)
		want error
	}{
		"a stop": {func(t *testing.T, other *sqlite.Store) {
			if _, err := other.Stop(t.Context(), action.Stop{Tenant: "acme", By: action.ByHost, Reason: "odd"}); err != nil {
				t.Fatal(err)
			}
		}, action.ErrStopped},
		"another policy": {func(t *testing.T, other *sqlite.Store) {
			if _, err := other.SetPolicy(t.Context(), "acme", tool, canon.Sum([]byte("stricter"))); err != nil {
				t.Fatal(err)
			}
		}, action.ErrStale},
		"a run that is uncertain": {func(t *testing.T, other *sqlite.Store) {
			finish(t, other, beginAs(t, other, "act_other", "act_new"), action.Uncertain)
		}, action.ErrUncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, path := newStore(t)
			begin(t, s, "act_1")
			a := allowed(t, s, "act_new")
			begin(t, s, "act_2")
			if err := os.Remove(path + ".lock"); err != nil {
				t.Fatal(err)
			}
			other := openAt(t, path, nil)
			c.does(t, other)
			if _, err := s.Begin(t.Context(), action.Start{Action: a, Lease: time.Minute}); !errors.Is(err, c.want) {
				t.Errorf("a call begins after it: %v, want %v", err, c.want)
			}
		})
	}
}

// beginAs begins a call with the arguments of another id.
func beginAs(t testing.TB, s *sqlite.Store, id, like string) action.Action {
	t.Helper()
	a := allowed(t, s, like)
	a.ID = id
	row, err := s.Begin(t.Context(), action.Start{Action: a, Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// TestAStopHoldsWhereMemoryIsReadAgain: a stop and a call share a batch, before
// which memory is read again. What it says of the stops is of before that one.
func TestAStopHoldsWhereMemoryIsReadAgain(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	start := action.Start{Action: allowed(t, s, "act_1"), Lease: time.Minute}
	errs := s.TogetherAfterOthers(func() error {
		_, err := s.Stop(t.Context(), action.Stop{Tenant: "acme", By: action.ByHost, Reason: "odd"})
		return err
	}, func() error {
		_, err := s.Begin(t.Context(), start)
		return err
	})
	if errs[0] != nil || !errors.Is(errs[1], action.ErrStopped) {
		t.Errorf("the stop: %v; the call behind it: %v, want %v", errs[0], errs[1], action.ErrStopped)
	}
}

// TestRecordsOfAnotherOwnerAreListed: the lists name what another process has
// recorded between two commits of this one.
func TestRecordsOfAnotherOwnerAreListed(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	begin(t, s, "act_1")
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	other := openAt(t, path, nil)
	begin(t, other, "act_2")
	begin(t, s, "act_3")
	if err := s.Enlist(); err != nil {
		t.Fatal(err)
	}
	sound(t, path)
}

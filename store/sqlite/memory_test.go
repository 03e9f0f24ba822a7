package sqlite_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// TestNothingIsRememberedOfWhatWasUndone: a call that is refused after its row
// was written, or whose transaction fails, alone or among others, leaves nothing
// in memory, and one that has ended neither.
func TestNothingIsRememberedOfWhatWasUndone(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	finish(t, s, begin(t, s, "act_ended"), action.Succeeded)
	var large, small []action.Start
	for i := range 9 {
		small = append(small, action.Start{Action: allowed(t, s, fmt.Sprint("act_", i)), Lease: time.Minute})
		large = append(large, small[i])
		large[i].Limits = []action.Limit{{Name: "day", Window: action.Day, Amount: 2, Most: 1}}
	}
	refused := func(why string, starts []action.Start) {
		t.Helper()
		one := func(start action.Start) {
			if _, err := s.Begin(t.Context(), start); err == nil {
				t.Errorf("%s: a call began", why)
			}
		}
		one(starts[0])
		var all sync.WaitGroup
		for _, start := range starts[1:] {
			all.Go(func() { one(start) })
		}
		all.Wait()
		if flights, runs := s.Remembered(); flights != 0 || runs != 0 {
			t.Errorf("%s: %d rows in flight and %d that began are remembered", why, flights, runs)
		}
	}
	refused("over its limit", large)
	db := raw(t, path)
	sql(t, db, "CREATE TRIGGER broken BEFORE INSERT ON event_pack BEGIN SELECT RAISE(ABORT, 'broken'); END")
	refused("without a record", small)
	sql(t, db, "DROP TRIGGER broken")
	begin(t, s, "act_after")
	if flights, runs := s.Remembered(); flights != 1 || runs != 1 {
		t.Errorf("%d rows in flight and %d that began are remembered", flights, runs)
	}
}

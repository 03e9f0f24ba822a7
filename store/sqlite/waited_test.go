package sqlite_test

import (
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// TestAVerbThatWaitedIsOfTheTimeAfterIt: a verb that waits for somebody who
// writes to the file goes by the time at which it comes in, not by the one at
// which it began to wait.
func TestAVerbThatWaitedIsOfTheTimeAfterIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	var clock atomic.Int64
	clock.Store(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	s := openAt(t, path, func() time.Time { return time.Unix(0, clock.Load()).UTC() })
	admin(t, s)
	row := vote(t, s, pending(t, s, "act_1"))
	db := raw(t, path)
	sql(t, db, "BEGIN IMMEDIATE")
	done := make(chan error, 1)
	go func() {
		_, err := s.Claim(t.Context(), row.ID, time.Minute)
		done <- err
	}()
	time.Sleep(300 * time.Millisecond) // the verb comes meanwhile, and waits
	clock.Store(row.Deadline.Add(time.Second).UnixNano())
	sql(t, db, "COMMIT")
	if err := <-done; !errors.Is(err, action.ErrLate) {
		t.Errorf("a claim that came in after the deadline: %v", err)
	}
}

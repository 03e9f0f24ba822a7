package sqlite_test

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
)

// TestWALStaysSmallBetweenReadersWithoutAGap reads all the time, so that the
// moment at which SQLite writes its WAL from the start never comes by itself.
func TestWALStaysSmallBetweenReadersWithoutAGap(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	row := begin(t, s, "act_0")
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for !done.Load() {
				if _, err := s.Action(t.Context(), "acme", row.ID); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	largest, writers := int64(0), sync.WaitGroup{}
	var mu sync.Mutex
	for w := range 8 {
		writers.Go(func() {
			for i := range 300 / shortened {
				finish(t, s, begin(t, s, fmt.Sprintf("act_%d_%06d", w, i)), action.Succeeded)
				info, err := os.Stat(path + "-wal")
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				largest = max(largest, info.Size())
				mu.Unlock()
			}
		})
	}
	writers.Wait()
	done.Store(true)
	readers.Wait()
	t.Logf("the WAL grew to %d bytes", largest)
	if largest > 32<<20 { // 3,000 pages, and what is written until readers have gone
		t.Errorf("the WAL grew to %d bytes", largest)
	}
}

package sqlite_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sqlite3 "github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
)

// TestWALStaysSmallBetweenReadersWithoutAGap has two readers of which each
// begins before the other ends, so that the moment at which SQLite writes its
// WAL from the start never comes by itself. How far the WAL grows until a busy
// machine's readers have gone is not ours to say, but it must be written from
// the start again and again.
func TestWALStaysSmallBetweenReadersWithoutAGap(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	begin(t, s, "act_0")
	var done atomic.Bool
	var readers, writers sync.WaitGroup
	readers.Go(func() { handOver(t, [2]*sqlite3.Conn{raw(t, path), raw(t, path)}, &done) })
	const starts = 3
	first, until := walStarts(t, path), time.Now().Add(2*time.Minute)
	for w := range 8 {
		writers.Go(func() {
			for i := 0; walStarts(t, path) < first+starts && !t.Failed(); i++ {
				if time.Now().After(until) {
					t.Errorf("the WAL was written from the start %d times, want %d", walStarts(t, path)-first, starts)
					return
				}
				finish(t, s, begin(t, s, fmt.Sprintf("act_%d_%06d", w, i)), action.Succeeded)
			}
		})
	}
	writers.Wait()
	done.Store(true)
	readers.Wait()
}

// handOver reads by the connections in turn; there is always one that reads.
func handOver(t *testing.T, of [2]*sqlite3.Conn, done *atomic.Bool) {
	const read = "BEGIN; SELECT count(*) FROM action WHERE id = 'act_0'"
	err := of[0].Exec(read)
	for i := 1; err == nil && !done.Load(); i++ {
		if err = of[i%2].Exec(read); err == nil {
			time.Sleep(time.Millisecond)
			err = of[(i+1)%2].Exec("COMMIT")
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// walStarts is how often a WAL was written from the start: the checkpoint
// sequence number of its header (sqlite.org/fileformat2.html §4.1).
func walStarts(t *testing.T, path string) uint32 {
	f, err := os.Open(path + "-wal")
	if err != nil {
		t.Error(err)
		return 0
	}
	defer f.Close()
	var head [16]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		t.Error(err)
	}
	return binary.BigEndian.Uint32(head[12:])
}

package daemon_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

// Each start is followed by giving, soon at first and then ever more rarely.
func TestMemoryIsGivenBackAfterEachStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		end, stirred := make(chan struct{}), make(chan struct{})
		var given []time.Duration
		go daemon.Settle(end, stirred, func() bool { given = append(given, time.Since(begun)); return true })
		time.Sleep(400 * time.Second)
		stirred <- struct{}{}
		time.Sleep(500 * time.Millisecond)
		stirred <- struct{}{} // soon after another: nothing was given between
		time.Sleep(8 * time.Second)
		close(end)
		synctest.Wait()
		seconds := func(list ...float64) (out []time.Duration) {
			for _, n := range list {
				out = append(out, time.Duration(n*float64(time.Second)))
			}
			return out
		}
		if diff := cmp.Diff(seconds(1, 3, 7, 15, 31, 63, 127, 191, 255, 319, 383, 401.5, 403.5, 407.5), given); diff != "" {
			t.Error("given:", diff)
		}
	})
}

func TestMemoryThatCannotBeGivenBackIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		daemon.Settle(nil, nil, func() bool { tries++; return tries < 3 })
		if tries != 3 {
			t.Errorf("it was tried %d times", tries)
		}
	})
}

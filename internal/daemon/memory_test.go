package daemon_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

// Each start is followed by giving, collecting and giving, soon at first and then ever
// more rarely. Another start begins anew.
func TestMemoryIsGivenBackAfterEachStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		end, stirred := make(chan struct{}), make(chan struct{})
		var collected, given []float64
		go daemon.Settle(end, stirred, func() { collected = append(collected, time.Since(begun).Seconds()) },
			func() bool { given = append(given, time.Since(begun).Seconds()); return true })
		time.Sleep(200 * time.Second)
		stirred <- struct{}{}
		time.Sleep(time.Second)
		stirred <- struct{}{} // it was collected, and nothing given yet
		time.Sleep(5 * time.Second)
		close(end)
		synctest.Wait()
		about := cmpopts.EquateApprox(0, 0.001)
		if diff := cmp.Diff([]float64{0.5, 2.7, 5.9, 11.1, 20.3, 37.5, 70.7, 135.9, 200.5, 201.5, 203.7}, collected, about); diff != "" {
			t.Error("collected:", diff)
		}
		if diff := cmp.Diff([]float64{0.25, 1.7, 3.9, 7.1, 12.3, 21.5, 38.7, 71.9, 137.1, 200.25, 201.25, 202.7, 204.9}, given, about); diff != "" {
			t.Error("given:", diff)
		}
	})
}

func TestMemoryThatCannotBeGivenBackIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		daemon.Settle(nil, nil, func() {}, func() bool { tries++; return tries < 3 })
		if tries != 3 {
			t.Errorf("it was tried %d times", tries)
		}
	})
}

package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// testBudgetCrowd lets many callers take from the same windows at once and
// compares the sums at the end; between, no window may be over its limit.
func testBudgetCrowd(t *testing.T, b *bench, steps int, seed uint64) {
	spend := action.Limit{Name: "spend", Window: action.Day, Scope: "[]", Currency: "USD", Most: int64(steps) * 15}
	var reserved, posted atomic.Int64
	var wg sync.WaitGroup
	for n := range budgetWorkers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(n), seed))
			for range steps / budgetWorkers / 2 { // a begin and an end each
				take := spend
				take.Amount = rnd.Int64N(100)
				row, err := b.store.Begin(b.Context(), action.Start{Action: b.call(), Lease: 24 * time.Hour, Limits: []action.Limit{take,
					{Name: "calls", Window: action.Hour, Scope: fmt.Sprint(n % 2), Amount: 1, Most: action.MaxAmount}}})
				if errors.Is(err, action.ErrOverLimit) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				end := []action.State{action.Succeeded, action.Failed, action.Uncertain}[rnd.IntN(3)]
				if _, err := b.store.Finish(b.Context(), ending(row, end)); err != nil {
					t.Error(err)
					return
				}
				switch end {
				case action.Succeeded:
					posted.Add(take.Amount)
				case action.Uncertain:
					reserved.Add(take.Amount)
				}
			}
		})
	}
	stop, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				b.withinLimits()
			}
		}
	}()
	wg.Wait()
	close(stop)
	<-watched
	for _, w := range b.budgets() {
		if w.Name == "spend" && (w.Reserved != reserved.Load() || w.Posted != posted.Load()) {
			t.Errorf("the window holds %d and %d, the runs add up to %d and %d", w.Reserved, w.Posted, reserved.Load(), posted.Load())
		}
	}
	t.Logf("%d steps of %d callers: %d reserved and %d posted of %d", steps, budgetWorkers, reserved.Load(), posted.Load(), spend.Most)
}

func (b *bench) withinLimits() {
	all, err := b.store.Budgets(b.Context(), action.BudgetFilter{Tenant: tenant})
	if err != nil {
		b.Error(err)
	}
	for _, w := range all {
		if w.Reserved+w.Posted > w.Most {
			b.Errorf("window over its limit: %+v", w)
		}
	}
}

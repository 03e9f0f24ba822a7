//go:build bench

package auditbench_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// How long the two are compared, and how often the sequencer of the daemon
// has its turn.
const (
	round  = time.Second
	rounds = 12 // of each; every second pair begins with the other one
	turn   = 500 * time.Millisecond
)

// sum is what rounds of one subject came to.
type sum struct {
	rates []float64 // executions a second
	cpu   []float64 // microseconds of a processor for each
}

// subject is a store with or without the log.
type subject struct {
	store   *sqlite.Store
	version string
	logged  bool
	next    atomic.Int64
	sum     sum
}

// pair is the same store with the log and without, taken in turn, so that
// what else the machine does hits both.
type pair struct {
	t          *testing.T
	callers    int
	with, bare *subject
}

func newPair(t *testing.T, with, bare string, callers int) *pair {
	t.Helper()
	p := &pair{t: t, callers: callers, with: &subject{logged: true}, bare: &subject{}}
	for path, s := range map[string]*subject{with: p.with, bare: p.bare} {
		s.store = open(t, path)
		var err error
		if s.version, err = s.store.SetPolicy(t.Context(), "acme", "bank.pay", canon.Sum([]byte("rules"))); err != nil {
			t.Fatal(err)
		}
		s.next.Store(int64(callers) * 1e9) // ids of this pair
	}
	return p
}

func (p *pair) close() {
	for _, s := range []*subject{p.with, p.bare} {
		if err := s.store.Close(); err != nil {
			p.t.Error(err)
		}
	}
}

func (p *pair) run() {
	p.one(p.with)
	p.one(p.bare)
	p.with.sum, p.bare.sum = sum{}, sum{} // the first of each warms up
	for i := range rounds {
		order := []*subject{p.with, p.bare}
		if i%2 == 1 {
			order = []*subject{p.bare, p.with}
		}
		for _, s := range order {
			p.one(s)
		}
	}
}

// one makes executions for one round. With the log its sequencer has its
// turns beside them, and a last one at the end: every record is paid for.
func (p *pair) one(s *subject) {
	ctx, cancel := context.WithTimeout(p.t.Context(), round)
	defer cancel()
	var wg sync.WaitGroup
	var done atomic.Int64
	start, before := time.Now(), spent(syscall.RUSAGE_SELF)
	for range p.callers {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := execution(context.WithoutCancel(ctx), s.store, s.version, s.next.Add(1)); err != nil {
					p.t.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	if s.logged {
		p.sequence(ctx, s)
	}
	wg.Wait()
	if s.logged {
		p.sequence(ctx, s)
	}
	took, cpu := time.Since(start), spent(syscall.RUSAGE_SELF)-before
	s.sum.rates = append(s.sum.rates, float64(done.Load())/took.Seconds())
	s.sum.cpu = append(s.sum.cpu, float64(cpu.Microseconds())/float64(max(done.Load(), 1)))
}

func (p *pair) sequence(ctx context.Context, s *subject) {
	q, err := audit.NewSequencer(s.store, logKey(p.t))
	if err != nil {
		p.t.Fatal(err)
	}
	for more := true; more; {
		select {
		case <-ctx.Done():
			more = false
		case <-time.After(turn):
		}
		if _, err := q.Turn(context.WithoutCancel(ctx)); err != nil {
			p.t.Error(err)
		}
	}
}

func (p *pair) print() {
	rate, cpu := make([]float64, rounds), make([]float64, rounds)
	for i := range rounds {
		rate[i] = 100 * (p.bare.sum.rates[i]/p.with.sum.rates[i] - 1)
		cpu[i] = 100 * (p.with.sum.cpu[i]/p.bare.sum.cpu[i] - 1)
	}
	fmt.Printf("executions a second, callers %d: %.0f without the log, %.0f with it and its sequencer; the log adds %.1f %% of time (bar: at most 15 %%), %.1f %% of a processor (%.0f us to %.0f us)\n",
		p.callers, median(p.bare.sum.rates), median(p.with.sum.rates), median(rate), median(cpu), median(p.bare.sum.cpu), median(p.with.sum.cpu))
}

//go:build bench

package storebench_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// rounds is how often each subject is measured, in turn with the others, and
// sample how long each time.
const (
	rounds = 9
	sample = 400 * time.Millisecond
)

// subject is one way to make something durable.
type subject struct {
	name    string
	callers int
	do      func(caller int) error
}

// figure is what was seen of a subject, by round.
type figure struct {
	subject
	rates []float64 // operations in a second
	times []float64 // median nanoseconds of one operation
}

// warm is how long each subject works before it is measured: a database plans
// each statement of each connection several times before it keeps a plan.
const warm = 4 * time.Second

// measure runs all subjects in turn, once in each round.
func measure(t *testing.T, subjects []subject) map[string]figure {
	t.Helper()
	out := map[string]figure{}
	for _, s := range subjects {
		once(t, s, warm)
	}
	for range rounds {
		for _, s := range subjects {
			rate, middle := once(t, s, sample)
			f := out[s.name]
			out[s.name] = figure{s, append(f.rates, rate), append(f.times, middle)}
		}
	}
	fmt.Printf("\n  %-58s %8s %12s %12s\n", "", "callers", "per second", "p50 us")
	for _, s := range subjects {
		f := out[s.name]
		fmt.Printf("  %-58s %8d %12.0f %12.0f\n", s.name, s.callers, median(f.rates), median(f.times)/1000)
	}
	return out
}

// once lets a subject's callers work for a time.
func once(t *testing.T, s subject, long time.Duration) (rate, middle float64) {
	t.Helper()
	var callers sync.WaitGroup
	var failed atomic.Pointer[error]
	times := make([][]float64, s.callers)
	begun := time.Now()
	for i := range s.callers {
		callers.Go(func() {
			for time.Since(begun) < long {
				start := time.Now()
				if err := s.do(i); err != nil {
					failed.Store(&err)
					return
				}
				times[i] = append(times[i], float64(time.Since(start)))
			}
		})
	}
	callers.Wait()
	took := time.Since(begun)
	if err := failed.Load(); err != nil {
		t.Fatalf("%s: %v", s.name, *err)
	}
	all := slices.Concat(times...)
	return float64(len(all)) / took.Seconds(), median(all)
}

func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(of))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// ratio is the median of the ratios, round by round: what slows the machine
// slows both.
func ratio(above, below []float64) float64 {
	out := make([]float64, len(above))
	for i := range out {
		out[i] = above[i] / below[i]
	}
	return median(out)
}

// bar prints a ratio beside what it should be, at least or at most.
func bar(what string, got, want float64, most bool) {
	word, met := "at least", got >= want
	if most {
		word, met = "at most", got <= want
	}
	verdict := "met"
	if !met {
		verdict = "MISSED"
	}
	fmt.Printf("  %-90s %7.2fx  %s %.2fx: %s\n", what, got, word, want, verdict)
}

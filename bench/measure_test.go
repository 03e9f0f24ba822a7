package bench

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	rounds = 6
	// tries is how often a subject runs in one round; the fastest counts, for
	// other processes only ever slow it down. sample is how long one lasts.
	tries  = 15
	sample = time.Millisecond
)

// subject is one way to do the job.
type subject struct {
	name string
	run  func() error
}

// figure is what one subject cost in one operation.
type figure struct {
	name   string
	times  []float64 // nanoseconds, by round
	allocs float64
	bytes  float64
}

func (f figure) median() float64 { return median(f.times) }

// ratio returns the median of the ratios of f to base, round by round: what
// slows the machine down slows both.
func (f figure) ratio(base figure) float64 {
	ratios := make([]float64, len(f.times))
	for i := range ratios {
		ratios[i] = f.times[i] / base.times[i]
	}
	return median(ratios)
}

func median(of []float64) float64 {
	s := slices.Sorted(slices.Values(of))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// measure runs all subjects in turn, once in each round.
func measure(t *testing.T, subjects []subject) []figure {
	t.Helper()
	figures := make([]figure, len(subjects))
	counts := make([]int, len(subjects))
	for i, s := range subjects {
		figures[i].name = s.name
		counts[i] = calibrate(t, s)
		figures[i].allocs, figures[i].bytes = allocated(t, s, min(counts[i], 100))
	}
	for range rounds {
		for i, s := range subjects {
			runtime.GC()
			best := timed(t, s, counts[i])
			for range tries - 1 {
				best = min(best, timed(t, s, counts[i]))
			}
			figures[i].times = append(figures[i].times, float64(best)/float64(counts[i]))
		}
	}
	return figures
}

// calibrate returns how often to run s in one sample.
func calibrate(t *testing.T, s subject) int {
	t.Helper()
	n := 1
	for {
		took := timed(t, s, n)
		if took >= sample/4 {
			return max(1, int(float64(n)*float64(sample)/float64(took)))
		}
		n *= 2
	}
}

func timed(t *testing.T, s subject, n int) time.Duration {
	t.Helper()
	start := time.Now()
	for range n {
		if err := s.run(); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	return time.Since(start)
}

func allocated(t *testing.T, s subject, n int) (allocs, bytes float64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	timed(t, s, n)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n), float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
}

// table prints figures as multiples of the one called base.
func table(title, base string, figures []figure) {
	fmt.Printf("\n%s\n", title)
	fmt.Printf("  %-38s %14s %8s %10s %12s\n", "", "median ns", "ratio", "allocs", "bytes")
	reference := named(figures, base)
	for _, f := range figures {
		fmt.Printf("  %-38s %14.0f %7.2fx %10.1f %12.0f\n", f.name, f.median(), f.ratio(reference), f.allocs, f.bytes)
	}
}

func named(figures []figure, name string) figure {
	i := slices.IndexFunc(figures, func(f figure) bool { return f.name == name })
	return figures[i]
}

// bar says whether a figure is what we ask of ourselves.
func bar(holds bool, format string, args ...any) {
	verdict := "pass"
	if !holds {
		verdict = "MISS"
	}
	fmt.Printf("  %s  %s\n", verdict, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// faster is the bar that peer takes at least want times as long as ours.
func faster(figures []figure, ours, peer string, want float64) {
	got := named(figures, peer).ratio(named(figures, ours))
	bar(got >= want, "%s: %.1fx, bar %gx", peer, got, want)
}

// inform prints a ratio that no bar is about, because the peer does less.
func inform(figures []figure, ours, peer string) {
	fmt.Printf("  info  %s: %.1fx, no bar\n", peer, named(figures, peer).ratio(named(figures, ours)))
}

// leaner is the bar that ours allocates at most want times.
func leaner(figures []figure, ours string, want float64) {
	got := named(figures, ours).allocs
	bar(math.Round(got) <= want, "%s: %.1f allocations, bar %g", ours, got, want)
}

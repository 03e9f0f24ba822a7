//go:build bench

package gatewaybench_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
)

// subject is one way to the server.
type subject struct {
	name string
	call func() error
}

const (
	rounds   = 40
	perRound = 100
)

// figures are what one call cost.
type figures struct {
	name     string
	p50, p99 time.Duration
	garbage  float64 // bytes
}

// measure runs the subjects in turn, some calls in each round.
func measure(t *testing.T, subjects []subject) []figures {
	t.Helper()
	times, bytes := make([][]time.Duration, len(subjects)), make([]uint64, len(subjects))
	for round := range rounds + 1 {
		for i, s := range subjects {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range perRound {
				start := time.Now()
				if err := s.call(); err != nil {
					t.Fatalf("%s: %v", s.name, err)
				}
				if round > 0 { // the first one warms up
					times[i] = append(times[i], time.Since(start))
				}
			}
			runtime.ReadMemStats(&after)
			if round > 0 {
				bytes[i] += after.TotalAlloc - before.TotalAlloc
			}
		}
	}
	var out []figures
	for i, s := range subjects {
		slices.Sort(times[i])
		n := len(times[i])
		out = append(out, figures{s.name, times[i][n/2], times[i][n*99/100], float64(bytes[i]) / float64(n)})
	}
	return out
}

// report prints what each adds to the first, and as multiples of the second.
func report(title string, list []figures) {
	direct, plain := list[0], list[1]
	fmt.Printf("\n%s: %d calls each; direct p50 %d us, p99 %d us, %.0f KB\n", title, rounds*perRound,
		direct.p50.Microseconds(), direct.p99.Microseconds(), direct.garbage/1024)
	fmt.Printf("  %-28s %12s %10s %12s %12s\n", "added", "p50 us", "ratio", "p99 us", "garbage KB")
	for _, f := range list[1:] {
		fmt.Printf("  %-28s %12d %9.2fx %12d %12.1f\n", f.name, (f.p50 - direct.p50).Microseconds(),
			float64(f.p50-direct.p50)/float64(plain.p50-direct.p50), (f.p99 - direct.p99).Microseconds(), (f.garbage-direct.garbage)/1024)
	}
}

func TestGateway(t *testing.T) {
	report("stdio, 2025-11-25", measure(t, stdioSubjects(t)))
	report("HTTP, 2026-07-28", measure(t, httpSubjects(t)))
}

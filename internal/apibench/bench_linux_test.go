//go:build bench

package apibench_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// rounds is how often each subject is measured, in turn with the others, and
// sample how long each time.
const (
	rounds = 9
	sample = 400 * time.Millisecond
	warm   = time.Second
	crowd  = 64
)

// subject is one thing that clients do.
type subject struct {
	name    string
	clients int
	do      func(client int) error
}

// figure is what was seen of a subject, by round: how often in a second, the
// median time in nanoseconds, and the processor's time of both sides and the
// memory that was asked for, for one, in nanoseconds and bytes.
type figure struct{ rates, times, work, memory []float64 }

// The subjects.
const (
	bare      = "net/http echo of the body"
	disk      = "append of 512 bytes and fdatasync"
	durable   = "echo that waits for that"
	explain   = "explain"
	authorize = "authorize"
	many      = "authorize, many clients"
)

func TestAPI(t *testing.T) {
	at, sync1 := product(t), synced(t)
	plain, waiting := echo(t, nil), echo(t, sync1)
	list := []subject{
		{bare, 1, asking(t, plain+"/v1/authorize", "VENDOR-001")},
		{disk, 1, func(int) error { return sync1() }},
		{durable, 1, asking(t, waiting+"/v1/authorize", "VENDOR-001")},
		{explain, 1, asking(t, at+"/v1/explain", `"decision":"allow"`)},
		{authorize, 1, asking(t, at+"/v1/authorize", `"warrant"`)},
		{many, crowd, asking(t, at+"/v1/authorize", `"warrant"`)},
	}
	f := measure(t, list)
	together := make([]float64, rounds)
	for i := range together {
		together[i] = f[bare].times[i] + f[disk].times[i]
	}
	fmt.Println()
	fmt.Printf("  %-80s %7.2fx\n", "time of explain beside the echo", ratio(f[explain].times, f[bare].times))
	fmt.Printf("  %-80s %7.2fx\n", "time of a durable authorize beside the echo that waits for the disk", ratio(f[authorize].times, f[durable].times))
	bar("time of a durable authorize beside one fdatasync and one echo", ratio(f[authorize].times, together), 1.6, true)
	bar("authorize in a second, 64 clients beside one", ratio(f[many].rates, f[authorize].rates), 4, false)
}

// measure runs all subjects in turn, once in each round.
func measure(t *testing.T, list []subject) map[string]figure {
	t.Helper()
	out := map[string]figure{}
	for _, s := range list {
		once(t, s, warm)
	}
	for range rounds {
		for _, s := range list {
			before := spent(t)
			rate, middle := once(t, s, sample)
			after, asked := spent(t), rate*sample.Seconds()
			f := out[s.name]
			out[s.name] = figure{append(f.rates, rate), append(f.times, middle),
				append(f.work, (after.work-before.work)/asked), append(f.memory, (after.memory-before.memory)/asked)}
		}
	}
	fmt.Printf("\n  %-40s %8s %12s %9s %16s %9s\n", "", "clients", "per second", "p50 us", "processor us", "bytes")
	for _, s := range list {
		f := out[s.name]
		fmt.Printf("  %-40s %8d %12.0f %9.0f %16.0f %9.0f\n", s.name, s.clients, median(f.rates), median(f.times)/1000, median(f.work)/1000, median(f.memory))
	}
	return out
}

// costs are what this process has used, both sides of each request together.
type costs struct{ work, memory float64 }

func spent(t *testing.T) costs {
	t.Helper()
	var u syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return costs{float64(u.Utime.Nano() + u.Stime.Nano()), float64(m.TotalAlloc)}
}

// once lets a subject's clients work for a time.
func once(t *testing.T, s subject, long time.Duration) (rate, middle float64) {
	t.Helper()
	var clients sync.WaitGroup
	var failed atomic.Pointer[error]
	times := make([][]float64, s.clients)
	begun := time.Now()
	for i := range s.clients {
		clients.Go(func() {
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
	clients.Wait()
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
	fmt.Printf("  %-80s %7.2fx  %s %.2fx: %s\n", what, got, word, want, verdict)
}

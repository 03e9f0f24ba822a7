//go:build bench && linux

package gatewaybench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// subject is one way to the server.
type subject struct {
	name      string
	call      caller
	allocated func() uint64 // by what stands between
	cpu       func() time.Duration
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
	cpu      time.Duration
}

// measure runs the subjects in turn, some calls in each round.
func measure(t *testing.T, subjects []subject) []figures {
	t.Helper()
	times, garbage, cpu := make([][]time.Duration, len(subjects)), make([]uint64, len(subjects)), make([]time.Duration, len(subjects))
	for round := range rounds + 2 {
		for i, s := range subjects {
			before, used := s.allocated(), s.cpu()
			for range perRound {
				start := time.Now()
				if err := s.call(); err != nil {
					t.Fatalf("%s: %v", s.name, err)
				}
				if round > 1 { // the first ones warm up
					times[i] = append(times[i], time.Since(start))
				}
			}
			if round > 1 {
				garbage[i] += s.allocated() - before
				cpu[i] += s.cpu() - used
			}
		}
	}
	var out []figures
	for i, s := range subjects {
		slices.Sort(times[i])
		n := len(times[i])
		out = append(out, figures{s.name, times[i][n/2], times[i][n*99/100], float64(garbage[i]) / float64(n), cpu[i] / time.Duration(n)})
	}
	return out
}

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// bars are what the gateway may add at most, as multiples of what a forwarder
// and a typed proxy add.
type bars struct{ forwarder, typed float64 }

// report prints what each adds to the first, as multiples of the second, the
// forwarder, and of the last, the typed proxy; and beside our bars what the
// forwarder itself reaches.
func report(title string, list []figures, b bars) {
	direct, plain, typed := list[0], list[1], list[len(list)-1]
	fmt.Printf("\n%s: %d calls each; direct p50 %.0f us, p99 %.0f us\n", title, rounds*perRound, us(direct.p50), us(direct.p99))
	fmt.Printf("  %-34s %9s %10s %10s %9s %12s %9s\n", "added", "p50 us", "forwarder", "typed", "p99 us", "garbage KB", "cpu us")
	var ours, theirs, most float64
	for _, f := range list[1:] {
		added := float64(f.p50 - direct.p50)
		if f.name == subjectName {
			ours, theirs, most = added/float64(plain.p50-direct.p50), added/float64(typed.p50-direct.p50), float64(plain.p50-direct.p50)/float64(typed.p50-direct.p50)
		}
		fmt.Printf("  %-34s %9.1f %9.2fx %9.2fx %9.0f %12.1f %9.1f\n", f.name, added/1000, added/float64(plain.p50-direct.p50),
			added/float64(typed.p50-direct.p50), us(f.p99-direct.p99), f.garbage/1024, us(f.cpu))
	}
	fmt.Printf("  bars: %.2fx the %s, at most %.2fx: %s; %.2fx the typed proxy, at most %.2fx: %s (the %s itself: %.2fx)\n",
		ours, plain.name, b.forwarder, met(ours <= b.forwarder), theirs, b.typed, met(theirs <= b.typed), plain.name, most)
}

const subjectName = "verbatim"

func met(ok bool) string {
	if ok {
		return "met"
	}
	return "missed"
}

// nothing has allocated nothing and taken no time.
func nothing() uint64       { return 0 }
func noTime() time.Duration { return 0 }

// everything is what this process has allocated.
func everything() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func lineSubject(t *testing.T, label, name, tool, era string) subject {
	t.Helper()
	p := started(t, "stdio:"+name, "")
	return subject{label, lineClient(t, p.pipe, tool, era), func() uint64 { return p.allocated(t) }, p.used(t)}
}

func TestStdio(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		report("stdio between processes, "+era, measure(t, []subject{lineSubject(t, "direct", "server", "look", era),
			lineSubject(t, "raw line forwarder", "forwarder", "look", era), lineSubject(t, subjectName, "verbatim", "look", era),
			lineSubject(t, "typed go-sdk proxy", "typed", "look", era)}), bars{1.6, 0.35})
	}
}

// TestStdioInside has client, proxies and server in one process: no hop costs
// a switch of processes, as it does in use.
func TestStdioInside(t *testing.T) {
	var list []subject
	for _, s := range [][2]string{{"direct", "server"}, {"raw line forwarder", "forwarder"}, {"verbatim", "verbatim"}, {"typed go-sdk proxy", "typed"}} {
		list = append(list, subject{s[0], lineClient(t, inside(t, s[1]), "look", legacy), everything, noTime})
	}
	report("stdio inside one process, "+legacy, measure(t, list), bars{1.6, 0.35})
}

func webSubject(t *testing.T, label, name, behind, tool, era string) subject {
	t.Helper()
	p, at := startedHTTP(t, name, behind)
	return subject{label, webClient(t, at, tool, era, "7"), func() uint64 { return p.allocated(t) }, p.used(t)}
}

func TestHTTP(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		_, behind := startedHTTP(t, "server", "")
		report("HTTP between processes, "+era, measure(t, []subject{webSubject(t, "direct", "server", "", "look", era),
			webSubject(t, "httputil.ReverseProxy", "forwarder", behind, "look", era), webSubject(t, "bare TCP forwarder", "wires", behind, "look", era),
			webSubject(t, subjectName, "verbatim", behind, "look", era), webSubject(t, "typed go-sdk proxy, no sessions", "typedstateless", behind, "look", era),
			webSubject(t, "typed go-sdk proxy", "typed", behind, "look", era)}), bars{2, 0.3})
	}
}

// syncing writes a page and waits for the disk.
func syncing(t *testing.T) caller {
	t.Helper()
	f, err := os.Create(filepath.Join(os.Getenv(dirVar), "page"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close(); os.Remove(f.Name()) })
	page := make([]byte, 4096)
	return func() error {
		if _, err := f.Write(page); err != nil {
			return err
		}
		return unix.Fdatasync(int(f.Fd()))
	}
}

func TestMutation(t *testing.T) {
	list := measure(t, []subject{{"fdatasync of 4 KiB", syncing(t), nothing, noTime}, lineSubject(t, "direct", "server", "put", legacy),
		lineSubject(t, "read", "verbatim", "look", legacy), lineSubject(t, "mutation", "verbatim", "put", legacy)})
	sync, direct, read, mutation := list[0].p50, list[1].p50, list[2].p50, list[3].p50
	fmt.Printf("\nallowed mutation over stdio: a read adds %.0f us, a mutation %.0f us, %.1f KB garbage; one fdatasync is %.0f us, so the mutation is the read and %.2f of them\n",
		us(read-direct), us(mutation-direct), list[3].garbage/1024, us(sync), float64(mutation-read)/float64(sync))
}

func TestThroughput(t *testing.T) {
	const calls = 3200
	fmt.Printf("\nthroughput, calls/s, p50 of three runs\n  %-34s %9s %9s %9s\n", "clients", "1", "8", "64")
	run := func(f func(int) error) float64 {
		var all []float64
		for range 3 {
			start := time.Now()
			if err := f(calls); err != nil {
				t.Fatal(err)
			}
			all = append(all, calls/time.Since(start).Seconds())
		}
		slices.Sort(all)
		return all[1]
	}
	for _, tool := range []string{"look", "put"} {
		for _, name := range []string{"server", "forwarder", "verbatim", "typed"} {
			var stdio, web [3]float64
			_, behind := startedHTTP(t, "server", "")
			for i, n := range []int{1, 8, 64} {
				stdio[i] = run(manyLines(t, started(t, "stdio:"+name, "").pipe, tool, n))
				_, at := startedHTTP(t, name, behind)
				web[i] = run(manyClients(t, at, tool, n))
			}
			fmt.Printf("  %-34s %9.0f %9.0f %9.0f\n", "stdio, "+tool+", "+name, stdio[0], stdio[1], stdio[2])
			fmt.Printf("  %-34s %9.0f %9.0f %9.0f\n", "HTTP, "+tool+", "+name, web[0], web[1], web[2])
		}
	}
}

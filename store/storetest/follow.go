package storetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
)

// follows takes a lease and returns the place.
func (b *bench) follows(name, by string, start int64, lease time.Duration) audit.Place {
	b.Helper()
	p, err := b.store.Follow(b.Context(), name, by, start, lease)
	b.must(err)
	return p
}

// advances moves a place, and reports whether it moved.
func (b *bench) advances(name, by string, next int64) bool {
	b.Helper()
	moved, err := b.store.Advance(b.Context(), name, by, next)
	b.must(err)
	return moved
}

func testFollow(t *testing.T, open Open) {
	each(t, open, map[string]func(*bench){
		"a new place begins where it is told, an old one where it was": func(b *bench) {
			if p := b.follows("siem", "one", 7, time.Minute); p.Next != 7 || p.By != "one" || !p.At.IsZero() || !p.Until.Equal(b.clock.read().Add(time.Minute)) {
				b.Fatalf("%+v", p)
			}
			if p := b.follows("siem", "one", 0, time.Minute); p.Next != 7 {
				b.Errorf("%+v", p)
			}
		},
		"one holds a lease until it ends": func(b *bench) {
			b.follows("siem", "one", 0, time.Minute)
			if p := b.follows("siem", "two", 0, time.Minute); p.By != "one" {
				b.Errorf("taken away: %+v", p)
			}
			if b.advances("siem", "two", 1) {
				b.Error("somebody without the lease moved it")
			}
			b.clock.add(time.Minute)
			if b.advances("siem", "one", 1) {
				b.Error("it was moved after the lease")
			}
			if p := b.follows("siem", "two", 0, time.Minute); p.By != "two" {
				b.Errorf("not taken over: %+v", p)
			}
			if b.advances("siem", "one", 1) || !b.advances("siem", "two", 1) {
				b.Error("the lease is not with the second")
			}
		},
		"a place moves forward only": func(b *bench) {
			b.follows("siem", "one", 0, time.Minute)
			for _, x := range []struct {
				next int64
				want bool
			}{{3, true}, {3, false}, {2, false}, {4, true}} {
				if got := b.advances("siem", "one", x.next); got != x.want {
					b.Errorf("to %d: %v, want %v", x.next, got, x.want)
				}
			}
			if b.advances("other", "one", 1) {
				b.Error("a place that there is not moved")
			}
		},
		"places are listed by name": func(b *bench) {
			b.follows("b", "one", 2, time.Minute)
			b.follows("a", "two", 1, time.Minute)
			b.advances("a", "two", 5)
			all, err := b.store.Places(b.Context())
			b.must(err)
			if len(all) != 2 || all[0].Name != "a" || all[0].Next != 5 || all[0].At.IsZero() || all[1].Name != "b" || all[1].Next != 2 {
				b.Errorf("%+v", all)
			}
		},
		"of many at once one gets the lease": func(b *bench) {
			var wg sync.WaitGroup
			var got atomic.Int32
			for _, by := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
				wg.Go(func() {
					p, err := b.store.Follow(b.Context(), "siem", by, 0, time.Minute)
					if err != nil {
						b.Errorf("follow: %v", err)
					}
					if p.By == by {
						got.Add(1)
					}
				})
			}
			wg.Wait()
			if got.Load() != 1 {
				b.Errorf("%d have it", got.Load())
			}
		},
	})
}

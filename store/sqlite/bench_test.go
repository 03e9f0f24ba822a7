package sqlite_test

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// BenchmarkBegin is one durable commit point: alone, and with many callers
// who share commits. BenchmarkSync is the floor: one write of a page and its
// sync.
func BenchmarkBegin(b *testing.B) {
	for _, c := range []struct {
		name    string
		callers int
	}{{"alone", 0}, {"64 callers", 32}} {
		b.Run(c.name, func(b *testing.B) {
			s := openAt(b, filepath.Join(b.TempDir(), "store.db"), nil)
			call := allowed(b, s, "act_x")
			run := func() {
				a := call
				a.ID = rand.Text()
				a.Fingerprint = canon.Sum([]byte(a.ID)) // another request each time
				if _, err := s.Begin(context.Background(), action.Start{Action: a, Lease: time.Hour}); err != nil {
					b.Error(err)
				}
			}
			if c.callers == 0 {
				for b.Loop() {
					run()
				}
				return
			}
			b.SetParallelism(c.callers)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					run()
				}
			})
		})
	}
}

func BenchmarkAction(b *testing.B) {
	s := openAt(b, filepath.Join(b.TempDir(), "store.db"), nil)
	begin(b, s, "act_x")
	for b.Loop() {
		if _, err := s.Action(b.Context(), "acme", "act_x"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "file"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	for b.Loop() {
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead is the record of one allowed read.
func BenchmarkRead(b *testing.B) {
	s := openAt(b, filepath.Join(b.TempDir(), "store.db"), nil)
	call := allowed(b, s, "read_x")
	call.Mutation = false
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Decide(b.Context(), call); err != nil {
			b.Fatal(err)
		}
	}
}

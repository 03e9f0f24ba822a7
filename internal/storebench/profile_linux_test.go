//go:build bench

package storebench_test

import (
	"path/filepath"
	"testing"

	"github.com/seed-de4804fb/verbatim/internal/pgtest"
)

// Each benchmark is one subject of TestStore alone, to be profiled: what it
// costs is asked of the processor, not of the clock.

func BenchmarkSQLite(b *testing.B) {
	dir := b.TempDir()
	b.Run("raw", func(b *testing.B) {
		table := rawSQLite(b, b.TempDir(), ordered)
		alone(b, func(int) error { return table.row() })
	})
	b.Run("decision", func(b *testing.B) { alone(b, decision(b, openSQLite(b, filepath.Join(dir, "a.db")))) })
	b.Run("decision, 64 callers", func(b *testing.B) { crowded(b, decision(b, openSQLite(b, filepath.Join(dir, "b.db")))) })
	b.Run("execution", func(b *testing.B) { alone(b, execution(b, openSQLite(b, filepath.Join(dir, "c.db")))) })
	b.Run("execution, 64 callers", func(b *testing.B) { crowded(b, execution(b, openSQLite(b, filepath.Join(dir, "d.db")))) })
}

func BenchmarkPostgres(b *testing.B) {
	server := pgtest.StartOnDisk(b, "max_connections=300", "shared_buffers=128MB", "max_wal_size=1GB")
	b.Run("raw, 64 callers", func(b *testing.B) { crowded(b, rawPostgres(b, server.Schema(b))) })
	b.Run("decision, 64 callers", func(b *testing.B) { crowded(b, decision(b, openPostgres(b, server.Schema(b)))) })
	b.Run("execution", func(b *testing.B) { alone(b, execution(b, openPostgres(b, server.Schema(b)))) })
	b.Run("execution, 64 callers", func(b *testing.B) { crowded(b, execution(b, openPostgres(b, server.Schema(b)))) })
}

func alone(b *testing.B, do func(int) error) {
	b.Helper()
	for b.Loop() {
		must(b, do(0))
	}
}

func crowded(b *testing.B, do func(int) error) {
	b.Helper()
	b.SetParallelism(crowd / 2) // for each of two processors
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := do(0); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

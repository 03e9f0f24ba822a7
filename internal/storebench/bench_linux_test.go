//go:build bench

package storebench_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed-de4804fb/verbatim/internal/pgtest"
)

// The subjects.
const (
	sync1   = "append of 512 bytes and fdatasync"
	raw1    = "SQLite: one row, one commit"
	rawEach = "SQLite: one row, one commit, 64 callers"
	rawMany = "SQLite: one row each, callers share commits"
	log1    = "SQLite: one row with a digest, one commit"
	logMany = "SQLite: one row with a digest each, callers share commits"
	decide1 = "SQLite: durable decision"
	decideN = "SQLite: durable decision, 64 callers"
	run1    = "SQLite: whole execution"
	runN    = "SQLite: whole execution, 64 callers"
	pgRaw1  = "PostgreSQL: one row, one commit"
	pgRawN  = "PostgreSQL: one row, one commit, 64 callers"
	pgDec1  = "PostgreSQL: durable decision"
	pgDecN  = "PostgreSQL: durable decision, 64 callers"
	pgRun1  = "PostgreSQL: whole execution"
	pgRunN  = "PostgreSQL: whole execution, 64 callers"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	server := pgtest.StartOnDisk(t, "max_connections=300", "shared_buffers=128MB", "max_wal_size=1GB")
	alone, logged := rawSQLite(t, t.TempDir(), ordered), rawSQLite(t, t.TempDir(), digested)
	decides, runs := openSQLite(t, filepath.Join(dir, "decide.db")), openSQLite(t, filepath.Join(dir, "run.db"))
	pgDecides, pgRuns := openPostgres(t, server.Schema(t)), openPostgres(t, server.Schema(t))
	decide, run := decision(t, decides), execution(t, runs)
	pgDecide, pgRun := decision(t, pgDecides), execution(t, pgRuns)
	pgRaw := rawPostgres(t, server.Schema(t))
	f := measure(t, []subject{
		{sync1, 1, appendSynced(t, dir)},
		{raw1, 1, func(int) error { return alone.row() }}, {log1, 1, func(int) error { return logged.row() }}, {decide1, 1, decide}, {run1, 1, run},
		{rawEach, crowd, inTurn(t, t.TempDir())}, {rawMany, crowd, grouped(t, t.TempDir(), ordered)}, {logMany, crowd, grouped(t, t.TempDir(), digested)}, {decideN, crowd, decide}, {runN, crowd, run},
		{pgRaw1, 1, pgRaw}, {pgDec1, 1, pgDecide}, {pgRun1, 1, pgRun},
		{pgRawN, crowd, pgRaw}, {pgDecN, crowd, pgDecide}, {pgRunN, crowd, pgRun},
	})
	fmt.Println()
	bar("time of a durable decision, one caller, beside one fdatasync", ratio(f[decide1].times, f[sync1].times), 1.5, true)
	bar("rate of durable decisions, 64 callers beside one", ratio(f[decideN].rates, f[decide1].rates), 4, false)
	bar("rate of whole executions on SQLite, one caller, beside raw commits of one row", ratio(f[run1].rates, f[raw1].rates), 0.33, false)
	bar("the same, beside raw commits of one row with a digest", ratio(f[run1].rates, f[log1].rates), 0.33, false)
	bar("the same, 64 callers, beside raw commits of one row each", ratio(f[runN].rates, f[rawEach].rates), 0.15, false)
	bar("the same, 64 callers, beside raw rows of 64 callers who share commits", ratio(f[runN].rates, f[rawMany].rates), 0.15, false)
	bar("the same, beside rows with a digest of 64 callers who share commits", ratio(f[runN].rates, f[logMany].rates), 0.15, false)
	bar("rate of whole executions on PostgreSQL, 64 callers, beside raw commits of 64 callers", ratio(f[pgRunN].rates, f[pgRawN].rates), 0.1, false)
	bar("rate of durable decisions on PostgreSQL, 64 callers beside one (no bar of ours: 1)", ratio(f[pgDecN].rates, f[pgDec1].rates), 1, false)
	listing(t, server)
}

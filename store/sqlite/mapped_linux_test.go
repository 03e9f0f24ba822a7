package sqlite_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// A disk has room for the whole of a file's memory or for none of it: it is
// found full by a write that fails, not by memory that faults.
func TestReadsOnAFullDiskAreRefusedAndNoneIsLost(t *testing.T) {
	t.Parallel()
	for _, size := range []string{"1500k", "1700k", "2200k"} { // room for no file, or for one
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
			t.Skipf("no small disk can be had: %v", err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, 0); err != nil {
				t.Error(err)
			}
		})
		path := filepath.Join(dir, "store.db")
		s, err := sqlite.Open(path, options(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() }) // which may find no room either
		allowed(t, s, "x")
		base := filepath.Join(t.TempDir(), "store.db")
		copyFiles(t, path, base, "", "-wal")
		db := raw(t, path)
		sql(t, db, "BEGIN IMMEDIATE") // nothing of it comes into the log
		kept, full := 0, false
		for ; kept < 6000 && !full; kept++ {
			a := allowed(t, s, fmt.Sprintf("read_%d", kept))
			a.Mutation = false
			if _, err := s.Decide(t.Context(), a); err != nil {
				full = true
				kept--
			}
		}
		copyFiles(t, path, base, journals...)
		sql(t, db, "ROLLBACK")
		if !full {
			t.Errorf("%s: the disk was never full", size)
		}
		if got := len(allRecords(t, openAt(t, base, nil))); got < kept || kept < 10 {
			t.Errorf("%s: %d records, %d reads were answered", size, got, kept)
		}
		sound(t, base)
	}
}

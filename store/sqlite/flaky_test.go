package sqlite_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// flaky is a file system of SQLite on a disk that fails from some write or
// sync on, until it is repaired.
type flaky struct {
	vfs.VFS
	left atomic.Int64 // writes and syncs until it fails
	err  error
}

func (d *flaky) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, out, err := vfsutil.WrapOpenFilename(d.VFS, name, flags)
	if err != nil {
		return nil, 0, err
	}
	return &flakyFile{File: f, disk: d}, out, nil
}

func (d *flaky) fails() bool { return d.left.Add(-1) < 0 }

func (d *flaky) repair() { d.left.Store(1 << 40) }

type flakyFile struct {
	vfs.File
	disk *flaky
}

func (f *flakyFile) Unwrap() vfs.File               { return f.File }
func (f *flakyFile) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(f.File) }

func (f *flakyFile) WriteAt(b []byte, off int64) (int, error) {
	if f.disk.fails() {
		return 0, f.disk.err
	}
	return f.File.WriteAt(b, off)
}

func (f *flakyFile) Sync(flags vfs.SyncFlag) error {
	if f.disk.fails() {
		return f.disk.err
	}
	return f.File.Sync(flags)
}

// TestAFailingDiskRefuses lets each write and each sync of a verb fail in
// turn: the verb is refused, nothing of it is seen, and the store works again
// once the disk does.
func TestAFailingDiskRefuses(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{"no space": syscall.ENOSPC, "input and output": syscall.EIO} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &flaky{VFS: vfs.Find(""), err: cause}
			d.repair()
			vfs.Register("flaky "+name, d)
			defer vfs.Unregister("flaky " + name)
			path := filepath.Join(t.TempDir(), "store.db")
			s, err := sqlite.Open(path, sqlite.Options{Sealer: fixedSealer(t), VFS: "flaky " + name})
			if err != nil {
				t.Fatal(err)
			}
			kept := failEachWrite(t, s, d)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again := openAt(t, path, nil)
			for _, id := range kept {
				if row, err := again.Action(t.Context(), "acme", id); err != nil || row.State != action.Executing {
					t.Errorf("%s was acknowledged: %s, %v", id, row.State, err)
				}
			}
		})
	}
}

// failEachWrite returns the ids that were acknowledged. It ends when a verb
// needs fewer writes than the disk allows.
func failEachWrite(t *testing.T, s *sqlite.Store, d *flaky) (kept []string) {
	t.Helper()
	failed := 0
	for n := int64(0); ; n++ {
		bad := allowed(t, s, fmt.Sprintf("act_bad_%d", n))
		d.left.Store(n)
		_, err := s.Begin(t.Context(), action.Start{Action: bad, Lease: time.Hour})
		d.repair()
		if err == nil {
			if failed == 0 {
				t.Error("no write failed: the harness is blind")
			}
			return append(kept, bad.ID)
		}
		failed++
		if _, err := s.Action(t.Context(), "acme", bad.ID); err == nil {
			t.Fatalf("write %d failed, yet the row is there", n)
		}
		good := begin(t, s, fmt.Sprintf("act_good_%d", n))
		kept = append(kept, good.ID)
	}
}

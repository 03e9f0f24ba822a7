package sqlite_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// asked is a file system that notes how its files are synced.
type asked struct {
	vfs.VFS
	mu    sync.Mutex
	count map[vfs.SyncFlag]int
}

func (d *asked) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, out, err := vfsutil.WrapOpenFilename(d.VFS, name, flags)
	if err != nil {
		return nil, 0, err
	}
	return &askedFile{File: f, disk: d}, out, nil
}

type askedFile struct {
	vfs.File
	disk *asked
}

func (f *askedFile) Unwrap() vfs.File               { return f.File }
func (f *askedFile) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(f.File) }

func (f *askedFile) Sync(flags vfs.SyncFlag) error {
	f.disk.mu.Lock()
	f.disk.count[flags&vfs.SYNC_FULL]++
	f.disk.mu.Unlock()
	return f.File.Sync(flags)
}

// TestEverySyncReachesTheDisk: a disk that keeps a cache of its own is asked to
// empty it (macOS, F_FULLFSYNC) by every connection that copies the WAL, not
// only by the one that writes it: what was copied is written over.
func TestEverySyncReachesTheDisk(t *testing.T) {
	t.Parallel()
	d := &asked{VFS: vfs.Find(""), count: map[vfs.SyncFlag]int{}}
	vfs.Register("asked", d)
	t.Cleanup(func() { vfs.Unregister("asked") })
	s := openWith(t, filepath.Join(t.TempDir(), "store.db"), sqlite.Options{Sealer: fixedSealer(t), VFS: "asked"})
	if err := s.AddAccount(t.Context(), auth.Account{ID: "acc_op", Key: "op", Name: "Op", Tenant: "acme", Groups: []string{"operator"},
		Active: true, CreatedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	finish(t, s, begin(t, s, "act_1"), action.Succeeded)
	d.mu.Lock()
	clear(d.count) // the file was made before its settings
	d.mu.Unlock()
	if _, err := s.Erase(t.Context(), "acme", "act_1", "acc_op", "asked for"); err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count[vfs.SYNC_FULL] < 3 || len(d.count) != 1 {
		t.Errorf("syncs by kind: %v, want those of the commit and of the copy, all full (%d)", d.count, vfs.SYNC_FULL)
	}
}

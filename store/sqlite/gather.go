package sqlite

import (
	"crypto/rand"
	"errors"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// gathering is the file system of the writing connection. SQLite hands the
// frames of a commit over one by one, two writes for each page, and then asks
// for a sync; here they reach the file in one write, just before that sync.
// Everything else goes to the file system below as it comes.
type gathering struct {
	vfs.VFS
	name string
	hold bool // commits wait for the disk: where they do not, SQLite asks for no sync, and nothing is held back
}

// gather registers a file system above another one.
func gather(below string) *gathering {
	g := &gathering{VFS: vfs.Find(below), name: "gathering-" + rand.Text()}
	vfs.Register(g.name, g)
	return g
}

func (g *gathering) close() { vfs.Unregister(g.name) }

// OpenFilename opens a file; the WAL in such a way that its writes are
// gathered.
func (g *gathering) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, out, err := vfsutil.WrapOpenFilename(g.VFS, name, flags)
	if err != nil || flags&vfs.OPEN_WAL == 0 {
		return f, out, err
	}
	return &gathered{File: f, system: g}, out, nil
}

// maxGathered is how much is held back at most; longer commits take several
// writes. The memory is kept.
const maxGathered = 256 << 10

// gathered is the WAL. Nobody else reads a frame before its commit is synced:
// the index that leads to it is written after the sync.
type gathered struct {
	vfs.File
	system *gathering
	buf    []byte // held back
	off    int64  // where it belongs

	lost bool  // something that was held back could not be written, and SQLite does not know
	hole int64 // where it belonged
}

func (f *gathered) WriteAt(b []byte, off int64) (int, error) {
	f.lost = f.lost && off > f.hole // what comes in its place makes it good
	if len(f.buf) > 0 && (off != f.off+int64(len(f.buf)) || len(f.buf)+len(b) > maxGathered) {
		if err := f.flush(); err != nil {
			return 0, err
		}
	}
	if !f.system.hold {
		if err := f.flush(); err != nil {
			return 0, err
		}
		return f.File.WriteAt(b, off)
	}
	if len(f.buf) == 0 {
		f.off = off
	}
	f.buf = append(f.buf, b...)
	return len(b), nil
}

// flush writes what is held back. If it fails SQLite undoes the transaction,
// so what it held is nobody's any more.
func (f *gathered) flush() error {
	if len(f.buf) == 0 {
		return nil
	}
	b := f.buf
	f.buf = f.buf[:0]
	_, err := f.File.WriteAt(b, f.off)
	return vfs.SystemError(err, sqlite3.IOERR_WRITE)
}

// early is flush where no write is due that SQLite waits for: it takes the
// failure for one to read, say, and goes on with the transaction. So the sync
// of that must fail.
func (f *gathered) early() error {
	err := f.flush()
	if err != nil {
		f.lost, f.hole = true, f.off
	}
	return err
}

func (f *gathered) ReadAt(b []byte, off int64) (int, error) {
	if err := f.early(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, off)
}

func (f *gathered) Truncate(size int64) error {
	if err := f.early(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *gathered) Sync(flags vfs.SyncFlag) error {
	if err := f.flush(); err != nil {
		return err
	}
	if f.lost { // SQLite undoes it now
		f.lost = false
		return sqlite3.IOERR_WRITE
	}
	return f.File.Sync(flags)
}

func (f *gathered) Size() (int64, error) {
	if err := f.early(); err != nil {
		return 0, err
	}
	return f.File.Size()
}

func (f *gathered) Close() error { return errors.Join(f.flush(), f.File.Close()) }

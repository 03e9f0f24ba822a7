package sqlite_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// memoryFile is a file that counts what reaches it.
type memoryFile struct {
	vfs.File
	content []byte
	writes  int
	synced  []byte
	full    bool
}

func (f *memoryFile) WriteAt(b []byte, off int64) (int, error) {
	if f.full {
		return 0, errors.New("full")
	}
	f.writes++
	f.content = change{off, b}.apply(f.content)
	return len(b), nil
}

func (f *memoryFile) ReadAt(b []byte, off int64) (int, error) {
	return bytes.NewReader(f.content).ReadAt(b, off)
}

func (f *memoryFile) Truncate(size int64) error {
	f.content = f.content[:min(int(size), len(f.content))]
	return nil
}

func (f *memoryFile) Sync(vfs.SyncFlag) error { f.synced = bytes.Clone(f.content); return nil }
func (f *memoryFile) Size() (int64, error)    { return int64(len(f.content)), nil }
func (f *memoryFile) Close() error            { return nil }

// TestAGatheredFileReadsAsAPlainOne does the same at random to a WAL whose
// writes are gathered and to a plain file: each read sees the same, and each
// sync keeps the same.
func TestAGatheredFileReadsAsAPlainOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		plain, below := &memoryFile{}, &memoryFile{}
		file, hold := sqlite.Gathered(below)
		end := int64(0)
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			switch rapid.SampledFrom([]string{"append", "append", "append", "write", "read", "sync", "truncate", "size", "hold"}).Draw(r, "step") {
			case "append":
				write(r, plain, file, end)
			case "write":
				write(r, plain, file, rapid.Int64Range(0, 300).Draw(r, "offset"))
			case "read":
				a, b := make([]byte, 64), make([]byte, 64)
				off := rapid.Int64Range(0, 300).Draw(r, "offset")
				n, err1 := plain.ReadAt(a, off)
				m, err2 := file.ReadAt(b, off)
				if n != m || !errors.Is(err1, err2) || !bytes.Equal(a, b) {
					r.Fatalf("read at %d: %d %v, want %d %v", off, m, err2, n, err1)
				}
			case "sync":
				if plain.Sync(0); file.Sync(0) != nil || !bytes.Equal(plain.synced, below.synced) {
					r.Fatal("the sync did not keep what was written before it")
				}
			case "truncate":
				size := rapid.Int64Range(0, 200).Draw(r, "size")
				if plain.Truncate(size); file.Truncate(size) != nil {
					r.Fatal("truncate failed")
				}
			case "size":
				if a, _ := plain.Size(); a >= 0 {
					if b, err := file.Size(); err != nil || a != b {
						r.Fatalf("size %d, %v, want %d", b, err, a)
					}
				}
			case "hold":
				*hold = !*hold
			}
			end = int64(len(plain.content))
		}
		if file.Close() != nil || !bytes.Equal(plain.content, below.content) {
			r.Fatal("the file does not hold what was written")
		}
	})
}

func write(r *rapid.T, plain, file vfs.File, off int64) {
	b := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(r, "bytes")
	_, _ = plain.WriteAt(b, off)
	if n, err := file.WriteAt(b, off); err != nil || n != len(b) {
		r.Fatalf("write: %d, %v", n, err)
	}
}

// TestACommitReachesTheFileInOneWrite, and one that fails is forgotten.
func TestACommitReachesTheFileInOneWrite(t *testing.T) {
	t.Parallel()
	below := &memoryFile{}
	file, hold := sqlite.Gathered(below)
	*hold = true
	frame := bytes.Repeat([]byte{1}, 24+4096)
	for i := range 15 {
		if _, err := file.WriteAt(frame, int64(i*len(frame))); err != nil {
			t.Fatal(err)
		}
	}
	if below.writes != 0 {
		t.Errorf("%d writes before the sync", below.writes)
	}
	if err := file.Sync(0); err != nil || below.writes != 1 || len(below.synced) != 15*len(frame) {
		t.Errorf("%d writes, %d bytes, %v", below.writes, len(below.synced), err)
	}
	if _, err := file.WriteAt(frame, int64(len(below.content))); err != nil {
		t.Fatal(err)
	}
	below.full = true
	if err := file.Sync(0); err == nil {
		t.Error("a write that failed passed for a sync")
	}
	below.full = false
	if err := file.Sync(0); err != nil || below.writes != 1 {
		t.Errorf("what a failed commit held was written later: %d writes, %v", below.writes, err)
	}
	if _, err := file.ReadAt(make([]byte, 1), int64(len(below.content))); !errors.Is(err, io.EOF) {
		t.Errorf("error %v", err)
	}
}

// TestWhatWasLostIsNotSynced: what is held back may be written before its
// sync, as when a page of it is read again. If that fails, the sync of the
// commit does too, however well the disk works by then; what is written in its
// place makes it good.
func TestWhatWasLostIsNotSynced(t *testing.T) {
	t.Parallel()
	below := &memoryFile{}
	file, hold := sqlite.Gathered(below)
	*hold = true
	frame := bytes.Repeat([]byte{1}, 24+4096)
	put := func(i int) {
		t.Helper()
		if _, err := file.WriteAt(frame, int64(i*len(frame))); err != nil {
			t.Fatal(err)
		}
	}
	put(0)
	below.full = true
	if _, err := file.ReadAt(make([]byte, 1), 0); err == nil {
		t.Fatal("a write that failed passed for a read")
	}
	below.full = false
	put(1)
	if err := file.Sync(0); err == nil {
		t.Error("a commit was synced of which a part is lost")
	}
	put(0)
	put(1)
	if err := file.Sync(0); err != nil || len(below.synced) != 2*len(frame) {
		t.Errorf("%d bytes, %v", len(below.synced), err)
	}
}

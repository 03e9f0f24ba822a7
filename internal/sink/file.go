package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-de4804fb/verbatim/internal/events"
)

// The sizes of a file sink.
const (
	DefaultMaxBytes = 100 << 20
	DefaultKeep     = 5
	tailBytes       = 4 << 20 // how far back the end of the last whole line is looked for
)

// File is a file of JSON lines, one event each. It is opened anew for each
// batch, so that whoever rotates logs may rename it at any time.
type File struct {
	Path     string
	MaxBytes int64 // a file that would grow beyond is renamed to PATH.1; 0 means DefaultMaxBytes
	Keep     int   // how many of those are kept; 0 means DefaultKeep

	write func(*os.File, []byte) (int, error) // of tests; nil writes
}

var errIrregular = errors.New("the sink's file is no regular file")

// Deliver appends a batch and waits for the disk. Of a batch that does not
// fit, nothing stays.
func (f *File) Deliver(_ context.Context, batch []events.Event) error {
	var lines bytes.Buffer
	for _, e := range batch {
		text, err := e.JSON()
		if err != nil {
			return err
		}
		lines.Write(text)
		lines.WriteByte('\n')
	}
	file, size, err := f.open(int64(lines.Len()))
	if err != nil {
		return err
	}
	write := f.write
	if write == nil {
		write = (*os.File).Write
	}
	if _, err = write(file, lines.Bytes()); err == nil {
		err = file.Sync()
	}
	if err != nil {
		err = errors.Join(err, file.Truncate(size)) // no half line
	}
	return errors.Join(err, file.Close())
}

// open opens the file behind its last whole line, after it was rotated if it
// would grow too long.
func (f *File) open(more int64) (*os.File, int64, error) {
	file, size, err := f.openOnce()
	limit := f.MaxBytes
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	if err != nil || size == 0 || size+more <= limit {
		return file, size, err
	}
	if err := errors.Join(file.Close(), f.rotate()); err != nil {
		return nil, 0, err
	}
	return f.openOnce()
}

func (f *File) openOnce() (*os.File, int64, error) {
	_, before := os.Stat(f.Path)
	file, err := os.OpenFile(f.Path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, err
	}
	size, err := whole(file)
	if err == nil && before != nil { // it is new; its name must last, too
		err = syncDir(filepath.Dir(f.Path))
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, size, nil
}

// whole cuts off the line that a crash has left unfinished: its batch comes
// again.
func whole(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errIrregular
	}
	size := info.Size()
	tail := make([]byte, min(size, tailBytes))
	if len(tail) == 0 || size > 0 && endsWhole(file, size) {
		return size, nil
	}
	if _, err := file.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	size -= int64(len(tail) - bytes.LastIndexByte(tail, '\n') - 1)
	return size, file.Truncate(size)
}

func endsWhole(file *os.File, size int64) bool {
	var last [1]byte
	n, err := file.ReadAt(last[:], size-1)
	return n == 1 && err == nil && last[0] == '\n'
}

// rotate moves PATH to PATH.1, that to PATH.2, and so on.
func (f *File) rotate() error {
	keep := f.Keep
	if keep <= 0 {
		keep = DefaultKeep
	}
	for i := keep - 1; i > 0; i-- {
		err := os.Rename(f.numbered(i), f.numbered(i+1))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.Rename(f.Path, f.numbered(1))
}

func (f *File) numbered(i int) string { return fmt.Sprintf("%s.%d", f.Path, i) }

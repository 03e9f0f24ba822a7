package postgres

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
)

// ErrNoBackup is returned for a file that is no whole backup of this program.
var ErrNoBackup = errors.New("the file is no whole backup of a store")

// A backup is a sequence of frames: a byte that says what it is, the length
// of its body in four bytes, and the body. It begins with a title, then come
// the migrations, the tables with their rows as COPY writes them in its binary
// form, the sequences, and at last the SHA-256 of everything before.
const (
	frameTitle     = 'V'
	frameMigration = 'M' // its digest
	frameTable     = 'T' // its name and columns
	frameRows      = 'D' // a part of the table's rows
	frameSequence  = 'S' // its name and the last number that it gave
	frameEnd       = 'E'
)

const (
	backupTitle = "verbatim postgresql backup 1"
	maxFrame    = 1 << 16
)

// frameWriter writes a backup.
type frameWriter struct {
	out  *bufio.Writer
	hash hash.Hash
}

func newFrameWriter(w io.Writer) (*frameWriter, error) {
	b := &frameWriter{out: bufio.NewWriterSize(w, 1<<18), hash: sha256.New()}
	return b, b.put(frameTitle, []byte(backupTitle))
}

func (b *frameWriter) put(kind byte, body []byte) error {
	if len(body) > maxFrame {
		return fmt.Errorf("a frame of %d bytes is too long", len(body))
	}
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)))
	b.hash.Write(head)
	b.hash.Write(body)
	_, err := b.out.Write(head)
	if err == nil {
		_, err = b.out.Write(body)
	}
	return err
}

// names puts texts that hold no NUL.
func (b *frameWriter) names(kind byte, texts ...string) error {
	return b.put(kind, []byte(strings.Join(texts, "\x00")))
}

// Write takes the rows of the last table.
func (b *frameWriter) Write(rows []byte) (n int, err error) {
	for part := range bytesOf(rows, maxFrame) {
		if err := b.put(frameRows, part); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

// bytesOf cuts b into parts of at most a size.
func bytesOf(b []byte, most int) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			n := min(most, len(b))
			if !yield(b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}

func (b *frameWriter) end() error {
	if err := b.put(frameEnd, b.hash.Sum(nil)); err != nil {
		return err
	}
	return b.out.Flush()
}

// frame is one of a backup that is read.
type frame struct {
	kind byte
	body []byte
}

func (f frame) names() []string { return strings.Split(string(f.body), "\x00") }

// frameReader reads a backup. Every way in which it ends but with its whole
// length and its sum is ErrNoBackup, or an error of the disk.
type frameReader struct {
	in    *bufio.Reader
	hash  hash.Hash
	next  frame // the next one, already read
	ended bool
}

func newFrameReader(r io.Reader) (*frameReader, error) {
	b := &frameReader{in: bufio.NewReaderSize(r, 1<<18), hash: sha256.New()}
	if err := b.read(); err != nil {
		return nil, err
	}
	if b.next.kind != frameTitle || string(b.next.body) != backupTitle {
		return nil, fmt.Errorf("%w: it does not begin as one", ErrNoBackup)
	}
	return b, b.read()
}

// take returns the next frame if it is of a kind.
func (b *frameReader) take(kind byte) (frame, bool, error) {
	f := b.next
	if b.ended || f.kind != kind {
		return frame{}, false, nil
	}
	return f, true, b.read()
}

// read reads ahead by one frame.
func (b *frameReader) read() error {
	var head [5]byte
	if _, err := io.ReadFull(b.in, head[:]); err != nil {
		return cut(err)
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > maxFrame {
		return fmt.Errorf("%w: a part of it is too long", ErrNoBackup)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(b.in, body); err != nil {
		return cut(err)
	}
	b.next = frame{head[0], body}
	if head[0] == frameEnd {
		return b.finish(body)
	}
	b.hash.Write(head[:])
	b.hash.Write(body)
	return nil
}

func (b *frameReader) finish(sum []byte) error {
	b.ended = true
	if !bytes.Equal(sum, b.hash.Sum(nil)) {
		return fmt.Errorf("%w: it was changed or damaged", ErrNoBackup)
	}
	if _, err := b.in.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows its end", ErrNoBackup)
	}
	return nil
}

func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: its end is missing", ErrNoBackup)
	}
	return err
}

// rows reads the rows of a table as one stream.
type rows struct {
	from *frameReader
	left []byte
}

func (r *rows) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		f, more, err := r.from.take(frameRows)
		if err != nil {
			return 0, err
		}
		if !more {
			return 0, io.EOF
		}
		r.left = f.body
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// whole reads a backup to its end, so that nothing of one that is damaged is
// ever used. It returns the digests of its migrations.
func whole(r io.Reader) (migrations [][]byte, err error) {
	b, err := newFrameReader(r)
	if err != nil {
		return nil, err
	}
	for !b.ended {
		f := b.next
		if f.kind == frameMigration {
			migrations = append(migrations, f.body)
		}
		if !strings.ContainsRune("MTDS", rune(f.kind)) {
			return nil, fmt.Errorf("%w: it has a part that nobody knows", ErrNoBackup)
		}
		if err := b.read(); err != nil {
			return nil, err
		}
	}
	return migrations, nil
}

package shadow

import (
	"bufio"
	"encoding/json"
	"errors"

	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/replay"
)

// The files of a directory: the one that is written, and the one before.
const (
	currentName  = "verdicts.jsonl"
	previousName = "verdicts.before.jsonl"
	// fileSize is when the next file is begun. Two of them are kept.
	fileSize = 16 << 20
)

// dropped is the line that says how many calls were never decided.
type dropped struct {
	At      time.Time `json:"at"`
	Dropped int64     `json:"dropped"`
}

// File is a [Sink] that keeps verdicts in a directory, in two files of at most
// 16 MiB each that only their owner can read. One process writes at a time.
type File struct {
	dir string

	mu   sync.Mutex
	file *os.File
	buf  *bufio.Writer
	size int64
	most int64
}

// OpenFile opens the directory, and makes it if it is not there.
func OpenFile(dir string) (*File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f := &File{dir: dir, most: fileSize}
	return f, f.open()
}

func (f *File) open() error {
	file, err := os.OpenFile(filepath.Join(f.dir, currentName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.buf, f.size = file, bufio.NewWriter(file), info.Size()
	if f.size > 0 { // an empty line is no verdict; it ends one that was cut off
		return f.write(nil)
	}
	return nil
}

// Keep writes one verdict. It stands in the file after Idle or Close.
func (f *File) Keep(v replay.Verdict) error { return f.line(v) }

// Dropped writes how many calls were not decided.
func (f *File) Dropped(n int64, at time.Time) error { return f.line(dropped{at.UTC(), n}) }

func (f *File) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return fs.ErrClosed
	}
	if f.size+int64(len(text)) > f.most {
		if err := f.turn(); err != nil {
			return err
		}
	}
	return f.write(text)
}

func (f *File) write(text []byte) error {
	n, err := f.buf.Write(append(text, '\n'))
	f.size += int64(n)
	return err
}

// turn begins the next file.
func (f *File) turn() error {
	if err := errors.Join(f.buf.Flush(), f.file.Close()); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(f.dir, currentName), filepath.Join(f.dir, previousName)); err != nil {
		return err
	}
	return f.open()
}

// Idle brings what was kept into the file.
func (f *File) Idle() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return fs.ErrClosed
	}
	return f.buf.Flush()
}

// Close brings what was kept into the file and closes it.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := errors.Join(f.buf.Flush(), f.file.Close())
	f.file = nil
	return err
}

// Kept is what a directory holds.
type Kept struct {
	Verdicts []replay.Verdict // newest first
	Dropped  []Gap
	Broken   int  // lines that are none, such as one that was cut off
	Cut      bool // older ones were left out
}

// Gap is a moment by which calls had been dropped.
type Gap struct {
	At    time.Time
	Calls int
}

// Read reads what a [File] has kept, beside whoever writes it: the newest most
// verdicts, or all where most is 0. A directory that is not there holds
// nothing.
func Read(dir string, most int) (Kept, error) {
	var k Kept
	for _, name := range []string{currentName, previousName} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Kept{}, err
		}
		k.read(text, most)
	}
	return k, nil
}

// Report joins the verdicts of a span to a report. It names the rules of an
// engine that decided nothing; the engine may be nil.
func (k Kept) Report(s replay.Scope, rules policy.Engine) replay.Report {
	t := replay.NewTally()
	for _, v := range k.Verdicts {
		if s.Holds(v.At) && (s.Tenant == "" || s.Tenant == v.Tenant) {
			t.Add(v)
		}
	}
	for _, g := range k.Dropped {
		if s.Holds(g.At) {
			t.Miss(replay.WhyDropped, g.Calls)
		}
	}
	r := t.Report(rules)
	r.Cut = k.Cut
	return r
}

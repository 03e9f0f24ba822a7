package sqlite

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// journal is the short way of the records of reads. One write, or one copy into
// the memory of a file, puts a record beside the database; from there the writing goroutine takes it
// into the log, with the next verb or after a moment. What is in the file
// survives the death of the process: the next opener takes it in.
//
// There are two files, so that one can be emptied while the other grows. The
// fields are guarded by memory.mu.
type journal struct {
	files   [2]reads
	active  int
	number  uint64        // of the last frame
	waiting []verbs.Entry // in the files, not yet in the log; in order
	off     bool          // a write failed: records go through the database
	sick    bool          // the database refused; it must show first that it can write
	armed   bool          // somebody will come and take them in
	buf     []byte
	// room gives a new file its memory, nil if it has none; tests replace it.
	room func(*os.File) []byte
}

// reads is one file of the journal.
type reads struct {
	file   *os.File // nil until it is needed
	memory []byte   // its first part; nil where it is written
	size   int64    // of what stands in it
	open   int      // frames that are not in the log yet
}

const (
	// foldAfter is how long a record stays in the journal at most while
	// nothing else is written.
	foldAfter = 200 * time.Millisecond
	// foldEarly is how many records have the writing goroutine come at once,
	// and maxWaiting how many may wait: beyond it a read waits for it.
	foldEarly  = 512
	maxWaiting = 8192
)

func journalPath(path string, i int) string { return path + [2]string{"-reads1", "-reads2"}[i] }

// A frame is length and checksum of what follows, its number, the salt, and
// the leaf, which has no number in the log yet.
const (
	frameHead = 8
	frameMeta = 8 + audit.SaltSize

	// maxJournaled is the longest leaf that goes into the journal, in bytes: in
	// the log its number has up to 15 digits more, and its time may have a
	// fraction. What waits must fit there, or nothing else could be written.
	maxJournaled = audit.MaxLeaf - 32
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// append writes one record. If it returns an error the record is not there,
// or nobody will find it.
func (j *journal) append(path string, e *verbs.Entry, leaf []byte) (err error) {
	f := &j.files[j.active]
	if f.file == nil {
		if f.file, err = os.OpenFile(journalPath(path, j.active), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return err
		}
		f.memory = j.room(f.file)
	}
	var head [frameHead]byte
	b := append(j.buf[:0], head[:]...)
	b = binary.LittleEndian.AppendUint64(b, j.number+1)
	b = append(append(b, e.Salt[:]...), leaf...)
	binary.LittleEndian.PutUint32(b, uint32(len(b)-frameHead))
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(b[frameHead:], castagnoli))
	j.buf = b
	if err := f.put(b); err != nil {
		return err
	}
	f.size += int64(len(b))
	f.open++
	j.number++
	j.waiting = append(j.waiting, *e)
	return nil
}

// put writes a frame. Half a frame ends the file for a reader.
func (f *reads) put(b []byte) error {
	if f.size+int64(len(b)) <= int64(len(f.memory)) {
		return put(f.memory[f.size:], b)
	}
	_, err := f.file.WriteAt(b, f.size)
	if err != nil && f.size >= int64(len(f.memory)) {
		err = errors.Join(err, f.file.Truncate(f.size))
	}
	return err
}

// empty leaves nothing in the file that could be read. Of one that is memory
// the room stays, for as long as it can be used.
func (f *reads) empty() error {
	if wipe(f.memory[:min(f.size, int64(len(f.memory)))]) != nil { // from now on it is written
		if err := unmap(f.memory); err != nil {
			return err
		}
		f.memory = nil
	}
	if room := int64(len(f.memory)); f.size > room {
		if err := f.file.Truncate(room); err != nil {
			return err
		}
	}
	f.size = 0
	return nil
}

// take hands over what waits and lets new records go to the other file.
func (j *journal) take() (waiting []verbs.Entry, open [2]int) {
	waiting, j.waiting, j.armed = j.waiting, nil, false
	open = [2]int{j.files[0].open, j.files[1].open}
	if other := 1 - j.active; len(waiting) > 0 && j.files[other].size == 0 {
		j.active = other
	}
	return waiting, open
}

// taken empties the files of which nothing waits any more.
func (j *journal) taken(open [2]int) error {
	for i := range j.files {
		f := &j.files[i]
		if f.open -= open[i]; f.open > 0 || f.size == 0 {
			continue
		}
		if err := f.empty(); err != nil {
			j.off = true
			return err
		}
	}
	return nil
}

// close removes the files if nothing is in them.
func (j *journal) close(path string) error {
	var errs []error
	for i := range j.files {
		f := &j.files[i]
		if f.file == nil {
			continue
		}
		errs = append(errs, unmap(f.memory), f.file.Close())
		if f.open == 0 && !j.off {
			errs = append(errs, removeIfThere(journalPath(path, i)))
		}
	}
	return errors.Join(errs...)
}

// frame is a record as it was found in a file.
type frame struct {
	number uint64
	entry  verbs.Entry
}

// readFrames reads a file up to the first frame that is not whole: what comes
// after it was never acknowledged, or the power was cut.
func readFrames(path string) ([]frame, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []frame
	for len(b) >= frameHead {
		size, sum := int(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:])
		if size < frameMeta || size > frameMeta+audit.MaxLeaf || size > len(b)-frameHead {
			break
		}
		body := b[frameHead : frameHead+size]
		if crc32.Checksum(body, castagnoli) != sum {
			break
		}
		record, err := audit.ParseLeaf(body[frameMeta:])
		if err != nil {
			return nil, err // the checksum holds, so nobody has torn it: somebody wrote it
		}
		f := frame{number: binary.LittleEndian.Uint64(body), entry: verbs.Entry{Record: record}}
		copy(f.entry.Salt[:], body[8:frameMeta])
		out = append(out, f)
		b = b[frameHead+size:]
	}
	return out, nil
}

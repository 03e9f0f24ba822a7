package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// A row of the log is a pack: the records that one commit has written, or
// some of them where they are very many. It has as many as it may before the
// leaves are longer than packBytes, which keeps it cheap to read one. Each stands
// there in the form that Forms of package audit makes.
const (
	packRecords = 128
	packBytes   = 96 << 10
	lengthSize  = 2 // before each form, the high byte first
)

// pack is records on their way into a row.
type pack struct {
	first, count  int64
	at            time.Time // of the last one
	salts, leaves []byte
	words         audit.Words // that the leaves refer to
	form          []byte      // of the record that was written last; the memory is kept
	names         names
}

// holds reports whether another leaf, in the form in which it is kept, may go
// into the same row.
func (p *pack) holds(form []byte) bool {
	return p.count < packRecords && len(p.leaves)+lengthSize+len(form) <= packBytes
}

// add takes in a record that is numbered. The list names it for an action; "" is
// for none.
func (p *pack) add(e *verbs.Entry, form []byte, action string) {
	if p.count == 0 {
		p.first = e.Seq
	}
	p.count++
	p.at = e.At
	p.salts = append(p.salts, e.Salt[:]...)
	p.leaves = append(binary.BigEndian.AppendUint16(p.leaves, uint16(len(form))), form...)
	p.names.add(p.first, action, e.Tenant)
}

// empty begins the next pack in the same memory. What it has named stays, until
// the transaction ends.
func (p *pack) empty() {
	p.count, p.salts, p.leaves = 0, p.salts[:0], p.leaves[:0]
	p.words.Empty()
}

// next is the number of the record that is written next.
func (t *tx) next() int64 { return t.last + 1 }

// write gives a record its number and takes it in. It is in the database when
// the pack is put there: before the transaction ends, and before anything in
// it asks for records.
func (t *tx) write(e *verbs.Entry) ([]byte, error) { return t.writeFor(e, e.Action) }

// writeNamed is write for a record whose number the row of its action says: it
// is found there, and not in the list.
func (t *tx) writeNamed(e *verbs.Entry, said int64) ([]byte, error) {
	if said != t.next() {
		return nil, fmt.Errorf("record %s: its row says that it is number %d, not %d", e.Event, said, t.next())
	}
	return t.writeFor(e, "")
}

// writeFor is write for a record that the list names for an action.
func (t *tx) writeFor(e *verbs.Entry, action string) ([]byte, error) {
	e.Seq = t.next()
	leaf, form, err := t.forms(e)
	if err == nil && !t.pack.holds(form) {
		if err := t.putPack(); err != nil {
			return nil, err
		}
		leaf, form, err = t.forms(e) // with the words of the next row
	}
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", e.Event, err)
	}
	t.pack.add(e, form, action)
	t.last++
	return leaf, nil
}

// forms are those of a record for the row that is being filled.
func (t *tx) forms(e *verbs.Entry) (leaf, form []byte, err error) {
	words := &t.pack.words
	if !t.many {
		words = nil
	}
	leaf, form, err = e.Forms(t.pack.form[:0], words)
	if err == nil {
		t.pack.form = form
	}
	return leaf, form, err
}

// putPack writes what was taken in.
func (t *tx) putPack() error {
	p := t.pack
	if p.count == 0 {
		return nil
	}
	if _, err := t.exec("INSERT OR FAIL INTO event_pack (first, count, at, salts, leaves, words) VALUES (?, ?, ?, ?, ?, ?)",
		p.first, p.count, p.at, p.salts, p.leaves, p.words.Bytes()); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	p.empty()
	return nil
}

// row is a pack as it is stored. Its bytes may be gone with the row of the answer.
type row struct {
	first                int64
	salts, leaves, words []byte
}

// leaf is the leaf of a record whose form stands at a place; it is in room, if
// that is large enough.
func (r row) leaf(room []byte, place [2]int) []byte {
	return audit.Expand(room, r.leaves[place[0]:place[1]], r.words)
}

// packColumns are what scanPack reads.
const packColumns = "first, count, salts, leaves, words"

// scanPack reads a pack without a copy of it, and where its leaves begin and
// end in it. It fails where the row does not hold as many as it says.
func scanPack(cur *cursor, room [][2]int) (row, [][2]int, error) {
	r := row{first: cur.int()}
	count := cur.int()
	r.salts, r.leaves, r.words = cur.raw(), cur.raw(), cur.raw()
	places, ok := split(r.leaves, room[:0])
	if !ok || int64(len(places)) != count || len(r.salts) != len(places)*audit.SaltSize {
		return r, nil, r.damaged()
	}
	return r, places, nil
}

// split adds where each leaf begins and ends to places. ok is false where the
// lengths do not come out even.
func split(leaves []byte, places [][2]int) (_ [][2]int, ok bool) {
	for at := 0; at < len(leaves); {
		from := at + lengthSize
		if from > len(leaves) {
			return places, false
		}
		to := from + int(binary.BigEndian.Uint16(leaves[at:]))
		if to > len(leaves) {
			return places, false
		}
		places, at = append(places, [2]int{from, to}), to
	}
	return places, true
}

// errDamaged is returned for a row that does not hold what it says.
var errDamaged = errors.New("a row of records does not hold what it says")

func (r row) damaged() error { return fmt.Errorf("%w: that of record %d", errDamaged, r.first) }

// kept is a record as it is stored. Its bytes may be gone with the row of the
// answer.
type kept struct {
	pack  int64 // number of the first record in the same row
	seq   int64
	form  []byte  // the leaf, in the form in which it is kept
	words []byte  // that the form refers to
	room  *[]byte // for the leaf
	salt  []byte  // zeros once it is forgotten
}

// leaf is the leaf, until that of another record is asked for.
func (k kept) leaf() []byte {
	*k.room = audit.Expand(*k.room, k.form, k.words)
	return *k.room
}

// forgotten is what stands in the place of a salt.
var forgotten audit.Salt

// entry is a copy of the record.
func (k kept) entry() audit.Entry {
	e := audit.Entry{Index: k.seq - 1, Leaf: bytes.Clone(k.leaf())}
	if !bytes.Equal(k.salt, forgotten[:]) {
		e.Salt = bytes.Clone(k.salt)
	}
	return e
}

// name says which record an error is about.
func (k kept) name(err error) error {
	if err != nil {
		err = fmt.Errorf("record %d: %w", k.seq, err)
	}
	return err
}

// order is in which order records are read.
type order bool

const (
	oldest order = false
	newest order = true
)

// walk calls fn for each record of the packs that a statement selects, in an
// order, which must be that of the packs as well.
func (c *conn) walk(way order, fn func(kept) error, sql string, args ...any) error {
	var places [][2]int
	var room []byte
	return c.query(func(cur *cursor) error {
		var r row
		var err error
		if r, places, err = scanPack(cur, places); err != nil {
			return err
		}
		for i := range places {
			if way == newest {
				i = len(places) - 1 - i
			}
			if err := fn(kept{r.first, r.first + int64(i), r.leaves[places[i][0]:places[i][1]], r.words, &room,
				r.salts[i*audit.SaltSize : (i+1)*audit.SaltSize]}); err != nil {
				return err
			}
		}
		return nil
	}, sql, args...)
}

// forgetSalts forgets the salts of records that are chosen, in the packs that
// a statement selects, and says how many.
func (t *tx) forgetSalts(chosen func(kept) (bool, error), sql string, args ...any) (n int64, err error) {
	if err := t.putPack(); err != nil {
		return 0, err
	}
	left := map[int64][]byte{} // by the first record of a pack
	var room []byte
	err = t.query(func(cur *cursor) error {
		r, places, err := scanPack(cur, nil)
		if err != nil {
			return err
		}
		salts := bytes.Clone(r.salts)
		for i, p := range places {
			salt := salts[i*audit.SaltSize : (i+1)*audit.SaltSize]
			yes, err := chosen(kept{r.first, r.first + int64(i), r.leaves[p[0]:p[1]], r.words, &room, salt})
			if err != nil {
				return err
			}
			if yes && !bytes.Equal(salt, forgotten[:]) {
				clear(salt)
				left[r.first] = salts
				n++
			}
		}
		return nil
	}, sql, args...)
	for first, salts := range left {
		if err == nil {
			_, err = t.exec("UPDATE event_pack SET salts = ? WHERE first = ?", salts, first)
		}
	}
	return n, err
}

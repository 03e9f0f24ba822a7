package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-de4804fb/verbatim/audit"
)

// The migrations from which on records stand in packs, and packs have words.
const (
	packsSince = 25
	wordsSince = 32
)

// checkRecords reads the whole log.
func (r *examination) checkRecords(_ *Store, c *conn) error {
	if r.Schema < packsSince {
		return r.checkRows(c)
	}
	columns := packColumns
	if r.Schema < wordsSince {
		columns = "first, count, salts, leaves, NULL"
	}
	room, leaf := [][2]int(nil), []byte(nil)
	return c.query(func(cur *cursor) error {
		p, places, err := scanPack(cur, room)
		at := cur.time()
		if err != nil {
			r.Fault("%v", err)
			return nil
		}
		room = places
		if p.first != r.Records+1 {
			r.Fault("record %d follows record %d", p.first, r.Records)
			r.Records = p.first - 1
		}
		for _, place := range places {
			r.Records++
			leaf = p.leaf(leaf, place)
			r.Leaf(fmt.Sprintf("record %d", r.Records), leaf, r.Records)
		}
		if !at.Equal(r.LastAt) {
			r.Fault("record %d is not what its columns say", r.Records)
		}
		return nil
	}, "SELECT "+columns+", at FROM event_pack ORDER BY first")
}

// checkRows reads the log of an earlier version, which has a row for each
// record.
func (r *examination) checkRows(c *conn) error {
	return c.query(func(cur *cursor) error {
		seq, id, at, tenant, event, of := cur.int(), cur.text(), cur.time(), cur.text(), cur.text(), cur.text()
		r.Records++
		if seq != r.Records {
			r.Fault("record %d follows record %d", seq, r.Records-1)
			r.Records = seq
		}
		if at.Before(r.LastAt) {
			r.Fault("record %d is older than the one before", seq)
		}
		r.Record(fmt.Sprintf("record %d", seq), cur.blob(), audit.Record{Seq: seq, ID: id, At: at, Tenant: tenant, Event: event, Action: of})
		return nil
	}, "SELECT seq, id, at, tenant, event, action_id, leaf FROM event ORDER BY seq")
}

// listing is what the lists and the rows of actions say, compared with the packs
// one after the other.
type listing struct {
	*conn
	names  names           // of the pack that is looked at
	rows   map[string]bool // actions whose rows name a record in it
	of, in int64           // packs that the lists should name
	named  int64           // records that rows should name
	wrong  bool
}

// look takes in a record.
func (l *listing) look(pack, seq int64, r audit.Record) error {
	l.names.add(pack, r.Action, r.Tenant)
	if r.Action == "" {
		return nil
	}
	n, err := l.number("SELECT coalesce(sum((first_record IS ?2) + (end_record IS ?2)), 0) FROM action WHERE id = ?1", r.Action, seq)
	if l.named += n; n > 0 {
		l.rows[r.Action] = true
	}
	return err
}

// settle looks for the names of a pack, unless it is not in the lists yet.
func (l *listing) settle(listed bool) (err error) {
	if listed {
		err = l.count(&l.of, l.names.of, l.rows, "SELECT 1 FROM event_of WHERE action_id = ?1 AND first <= ?2 AND last >= ?2")
	}
	if listed && err == nil {
		err = l.count(&l.in, l.names.in, nil, "SELECT 1 FROM event_in WHERE tenant = ? AND first = ?")
	}
	l.names.empty()
	clear(l.rows)
	return err
}

// count looks for names in a list. Those that are found elsewhere may be missing.
func (l *listing) count(n *int64, all []named, elsewhere map[string]bool, sql string) error {
	slices.SortFunc(all, byName)
	for _, name := range slices.Compact(all) {
		found, err := l.one(func(*cursor) error { return nil }, sql, name.id, name.first)
		if err != nil {
			return err
		}
		if found {
			*n++
		}
		l.wrong = l.wrong || !found && !elsewhere[name.id]
	}
	return nil
}

// checkLists: the lists and the rows of actions say of each pack what its
// records say themselves, and nothing else.
func (r *examination) checkLists(_ *Store, c *conn) error {
	l, pack := listing{conn: c, rows: map[string]bool{}}, int64(0)
	to, err := c.number("SELECT seq FROM event_listed")
	if err != nil {
		return err
	}
	err = c.walk(oldest, func(k kept) (err error) {
		if k.pack != pack {
			err, pack = l.settle(pack <= to), k.pack
		}
		if record, bad := k.skim(); err == nil && bad == nil { // what cannot be read is named already
			err = l.look(k.pack, k.seq, record)
		}
		return err
	}, "SELECT "+packColumns+" FROM event_pack ORDER BY first")
	if err == nil {
		err = l.settle(pack <= to)
	}
	if err != nil {
		return unlessDamaged(err)
	}
	rows, err := c.number("SELECT (SELECT coalesce(sum((SELECT count(*) FROM event_pack WHERE first BETWEEN o.first AND o.last)), 0) FROM event_of o) <> ? "+
		"OR (SELECT count(*) FROM event_in) <> ? OR (SELECT count(first_record) + count(end_record) FROM action) <> ?", l.of, l.in, l.named)
	if err == nil && (rows > 0 || l.wrong) {
		r.Fault("the lists of the records are not what the records say")
	}
	return err
}

// unlessDamaged: a pack that does not hold what it says is named already.
func unlessDamaged(err error) error {
	if errors.Is(err, errDamaged) {
		return nil
	}
	return err
}

// maxPacks is how many packs are kept while rows are compared with their last
// records: rows that follow each other have those in the same ones.
const maxPacks = 64

// lastOf is the last record of an action; nil where it has none.
func (r *examination) lastOf(c *conn, id string) ([]byte, error) {
	firsts, err := c.packsOf(id)
	look := search{action: id}.look()
	for _, first := range slices.Backward(firsts) {
		if err == nil && r.packs[first] == nil {
			err = r.keepPack(c, first)
		}
		if err != nil {
			return nil, unlessDamaged(err)
		}
		for _, k := range slices.Backward(r.packs[first]) {
			if look.May(k.form) {
				return audit.Expand(nil, k.form, k.words), nil
			}
		}
	}
	return nil, err
}

func (r *examination) keepPack(c *conn, first int64) error {
	if len(r.packs) >= maxPacks || r.packs == nil {
		r.packs = map[int64][]kept{}
	}
	var words []byte // of all of them
	return c.walkThose(oldest, []int64{first}, func(k kept) error {
		if words == nil {
			words = bytes.Clone(k.words)
		}
		r.packs[first] = append(r.packs[first], kept{form: bytes.Clone(k.form), words: words})
		return nil
	})
}

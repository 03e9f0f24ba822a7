package sqlite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/audit"
)

// Records are found by their action and by their tenant in two lists, which
// are written for many records at once: an index of each would cost every
// commit a page. Who looks for records reads the packs that the list names,
// and those that are not in it yet. The records that come with the row of an
// action and with the end of its run are named there, and are in the list of
// actions only where it was written from the packs.

// listStep is how many records may be missing in the lists after a commit. Who
// looks for the records of an action goes through so many.
const listStep = 512

// unlisted selects the packs that are not in the lists.
const unlisted = "first > (SELECT seq FROM event_listed)"

// named says that a pack has a record of an action, or of a tenant.
type named struct {
	id    string
	first int64
}

func byName(a, b named) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.first, b.first)) }

// names are what the lists will say of packs.
type names struct{ of, in []named }

// add names a record of a pack. Records without an action, and those that its
// row names, are in the list of their tenant only.
func (n *names) add(first int64, action, tenant string) {
	if action != "" {
		n.of = append(n.of, named{action, first})
	}
	if k := len(n.in); k == 0 || n.in[k-1] != (named{tenant, first}) {
		n.in = append(n.in, named{tenant, first})
	}
}

func (n *names) empty() { n.of, n.in = n.of[:0], n.in[:0] }

// missing is what this process knows of records that are not in the lists: the
// names of those behind the lists, up to number to. Only who holds the writing
// connection uses it.
type missing struct {
	listed int64 // the last record in the lists
	to     int64
	names  names
}

// from begins with nothing known behind the lists.
func (m *missing) from(listed int64) {
	m.listed, m.to = listed, listed
	m.names.empty()
}

// learn adds what a transaction has written that was committed.
func (m *missing) learn(t *tx) {
	if m.to != t.first {
		return // something before it is not known: the lists are written from the packs
	}
	m.names.of = append(m.names.of, t.pack.names.of...)
	m.names.in = append(m.names.in, t.pack.names.in...)
	m.to = t.last
}

// enlist brings the lists up to the last record of the transaction.
func (t *tx) enlist() error {
	if err := t.putPack(); err != nil {
		return err
	}
	m := &t.store.missing
	if m.to == t.first {
		m.learn(t) // where it is undone, nothing behind the lists is known any more
	} else if err := t.nameAll(&m.names); err != nil {
		return err
	}
	m.to = -1
	err := t.listActions(m.names.spans())
	if err == nil {
		err = t.listTenants(m.names.in)
	}
	if err == nil {
		_, err = t.exec("UPDATE event_listed SET seq = ?", t.last)
	}
	if err != nil {
		return fmt.Errorf("list the records: %w", err)
	}
	return nil
}

// nameAll reads the names from the packs that are not in the lists. What
// somebody has made unreadable is in no list, and a check tells of it: it must
// not keep others from being recorded.
func (t *tx) nameAll(n *names) error {
	n.empty()
	var room [][2]int
	var leaf []byte
	return t.query(func(cur *cursor) error {
		p, places, err := scanPack(cur, room)
		if err != nil {
			return nil
		}
		room = places
		for _, at := range places {
			leaf = p.leaf(leaf, at)
			if r, err := audit.Skim(leaf); err == nil {
				n.add(p.first, r.Action, r.Tenant)
			}
		}
		return nil
	}, "SELECT "+packColumns+" FROM event_pack WHERE "+unlisted+" ORDER BY first")
}

// span says that all packs from one to another have records of an action.
type span struct {
	id          string
	first, last int64
}

// spans joins the names of actions in packs that follow each other.
func (n *names) spans() (out []span) {
	packs := make([]int64, 0, len(n.in)) // each is named by the tenant of its records
	for _, in := range n.in {
		packs = append(packs, in.first)
	}
	packs = slices.Compact(packs)
	slices.SortFunc(n.of, byName)
	out = make([]span, 0, len(n.of))
	for _, of := range slices.Compact(n.of) {
		if k := len(out) - 1; k >= 0 && out[k].id == of.id {
			if at, found := slices.BinarySearch(packs, of.first); found && at > 0 && packs[at-1] == out[k].last {
				out[k].last = of.first
				continue
			}
		}
		out = append(out, span{of.id, of.first, of.first})
	}
	return out
}

// listRows is how many rows of a list one statement writes.
const listRows = 32

// listActions writes rows of the list of actions in its order.
func (t *tx) listActions(all []span) error {
	return list(t, "INSERT OR FAIL INTO event_of (action_id, first, last) VALUES ", "(?, ?, ?)", all, func(b *binder, s span) {
		b.text(s.id)
		b.int(s.first)
		b.int(s.last)
	})
}

// listTenants writes rows of the list of tenants in its order, each once.
func (t *tx) listTenants(all []named) error {
	slices.SortFunc(all, byName)
	return list(t, "INSERT OR FAIL INTO event_in (tenant, first) VALUES ", "(?, ?)", slices.Compact(all), func(b *binder, n named) {
		b.text(n.id)
		b.int(n.first)
	})
}

// list writes rows of a list, each of which bind gives its columns.
func list[row any](t *tx, insert, one string, rows []row, bind func(*binder, row)) error {
	many, columns := insert+strings.Repeat(one+", ", listRows-1)+one, strings.Count(one, "?")
	for len(rows) > 0 {
		sql, n := many, listRows
		if len(rows) < n {
			sql, n = insert+one, 1
		}
		b, err := t.binding(sql, n*columns)
		if err != nil {
			return err
		}
		for _, r := range rows[:n] {
			bind(&b, r)
		}
		if err := b.exec(); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

package sqlite

import (
	"errors"
	"math"
	"slices"

	"github.com/seed-de4804fb/verbatim/audit"
)

// search is what somebody looks for in the log.
type search struct {
	way     order
	behind  int64 // only records behind this number, in the order
	most    int
	action  string   // "" is any
	tenants []string // nil is any
	event   string   // "" is any
}

// errEnough ends a walk that has found what it looks for.
var errEnough = errors.New("enough is found")

// find calls fn for the records that a search finds, at most as many as it asks for.
func (c *conn) find(q search, fn func(kept) error) error {
	left := q.most
	look := q.look()
	each := func(k kept) error {
		if q.way == newest && k.seq >= q.behind || q.way == oldest && k.seq <= q.behind {
			return nil
		}
		if !look.May(k.form) {
			return nil
		}
		if yes, err := q.matches(k); err != nil || !yes {
			return err
		}
		if err := fn(k); err != nil {
			return err
		}
		if left--; left == 0 {
			return errEnough
		}
		return nil
	}
	if left <= 0 {
		return nil
	}
	err := c.through(q, each)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// look is a first glance at what a search looks for.
func (q search) look() audit.Look { return audit.LookFor(q.action, q.event) }

// matches looks at a record as it was written.
func (q search) matches(k kept) (bool, error) {
	if q.event == "" && q.tenants == nil {
		return true, nil
	}
	r, err := k.skim()
	return err == nil && (q.event == "" || r.Event == q.event) && (q.tenants == nil || slices.Contains(q.tenants, r.Tenant)), err
}

// through walks the packs that may have what a search looks for.
func (c *conn) through(q search, fn func(kept) error) error {
	switch {
	case q.action != "":
		firsts, err := c.packsOf(q.action)
		if err != nil {
			return err
		}
		return c.walkThose(q.way, firsts, fn)
	case q.tenants != nil:
		return c.throughTenants(q, fn)
	case q.way == newest:
		return c.walk(newest, fn, "SELECT "+packColumns+" FROM event_pack WHERE first < ? ORDER BY first DESC", q.behind)
	}
	return c.walk(oldest, fn, "SELECT "+packColumns+" FROM event_pack WHERE first >= "+packWith+" ORDER BY first", q.behind)
}

// packWith is the pack that has a record, or those before it.
const packWith = "coalesce((SELECT max(first) FROM event_pack WHERE first <= ?), 0)"

// walkThose walks packs by their first records, which are in ascending order.
func (c *conn) walkThose(way order, firsts []int64, fn func(kept) error) error {
	for i := range firsts {
		if way == newest {
			i = len(firsts) - 1 - i
		}
		if err := c.walk(way, fn, "SELECT "+packColumns+" FROM event_pack WHERE first = ?", firsts[i]); err != nil {
			return err
		}
	}
	return nil
}

// packsOf names the packs that may have records of an action, in ascending
// order.
func (c *conn) packsOf(action string) (firsts []int64, err error) {
	return c.firsts("SELECT p.first FROM event_of o CROSS JOIN event_pack p ON p.first BETWEEN o.first AND o.last WHERE o.action_id = ?1 "+
		"UNION ALL "+packNamed("first_record")+" UNION ALL "+packNamed("end_record")+
		" UNION ALL SELECT first FROM event_pack WHERE "+unlisted, action)
}

// packNamed selects the pack with the record that a column of an action's row
// names.
func packNamed(column string) string {
	return "SELECT (SELECT max(first) FROM event_pack WHERE first <= a." + column + ") FROM action a WHERE a.id = ?1 AND a." + column + " IS NOT NULL"
}

func (c *conn) firsts(sql string, args ...any) (out []int64, err error) {
	err = c.query(func(cur *cursor) error {
		out = append(out, cur.int())
		return nil
	}, sql, args...)
	slices.Sort(out)
	return slices.Compact(out), err
}

// packsAtOnce is how many packs are looked up in a list at once.
const packsAtOnce = 64

// throughTenants walks the packs that may have records of tenants.
func (c *conn) throughTenants(q search, fn func(kept) error) error {
	at := q.behind
	if q.way == oldest {
		first, err := c.number("SELECT "+packWith, q.behind)
		if err != nil {
			return err
		}
		at = first - 1
	}
	for {
		firsts, err := c.packsIn(q, at)
		if err != nil {
			return err
		}
		if err := c.walkThose(q.way, firsts, fn); err != nil || len(firsts) < packsAtOnce {
			return err
		}
		if at = firsts[len(firsts)-1]; q.way == newest {
			at = firsts[0]
		}
	}
}

// packsIn names the next packs behind a place that may have records of
// tenants, in ascending order.
func (c *conn) packsIn(q search, at int64) ([]int64, error) {
	end := "first > ? ORDER BY first LIMIT ?"
	if q.way == newest {
		end = "first < ? ORDER BY first DESC LIMIT ?"
	}
	var all []int64
	for _, tenant := range q.tenants {
		some, err := c.firsts("SELECT first FROM event_in WHERE tenant = ? AND "+end, tenant, at, packsAtOnce)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	late, err := c.firsts("SELECT first FROM event_pack WHERE "+unlisted+" AND "+end, at, packsAtOnce)
	if err != nil {
		return nil, err
	}
	all = append(all, late...)
	slices.Sort(all)
	all = slices.Compact(all)
	if n := len(all) - packsAtOnce; n > 0 && q.way == newest {
		all = all[n:]
	}
	return all[:min(len(all), packsAtOnce)], nil
}

// skim reads a record without its facts and commitments.
func (k kept) skim() (audit.Record, error) {
	r, err := audit.Skim(k.leaf())
	return r, k.name(err)
}

// parsed reads a record.
func (k kept) parsed() (audit.Record, error) {
	r, err := audit.ParseLeaf(k.leaf())
	return r, k.name(err)
}

// records lists records, newest first. What was done to everybody is part of
// every tenant's log.
func (c *conn) records(f audit.Filter) (out []audit.Record, err error) {
	q := search{way: newest, behind: math.MaxInt64, most: limit(f.Limit), action: f.Action, event: f.Event}
	if f.Before > 0 {
		q.behind = f.Before
	}
	if f.Tenant != "" {
		q.tenants = []string{f.Tenant, ""}
	}
	err = c.find(q, func(k kept) error {
		r, err := k.parsed()
		out = append(out, r)
		return err
	})
	return out, err
}

// entries reads records with their salts, oldest first.
func (c *conn) entries(sel audit.Selection) (out []audit.Entry, err error) {
	q := search{way: oldest, behind: sel.From, most: min(max(sel.Most, 1), audit.MaxEntries), action: sel.Action}
	if sel.Tenant != "" {
		q.tenants = []string{sel.Tenant}
	}
	err = c.find(q, func(k kept) error {
		out = append(out, k.entry())
		return nil
	})
	return out, err
}

package postgres

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// maxNumber stands in for a record's number until it has one, so that its
// leaf is never too long.
const maxNumber = 1<<53 - 1

// newEntry makes a record and its body, and notes both.
func (t *tx) newEntry(r audit.Record, f verbs.Facts, s verbs.Secrets) (e verbs.Entry, body []byte, err error) {
	e = verbs.NewEntry(t.now(), r, f, s)
	e.Seq = maxNumber
	if _, err = e.Leaf(); err == nil {
		e.Seq = 0
		body, err = e.Leaf()
	}
	if err != nil {
		return e, nil, fmt.Errorf("record %s: %w", e.Event, err)
	}
	t.token, t.leaf = e.ID, body
	return e, body, nil
}

// entry is a record on its way into the database.
func (t *tx) entry(r audit.Record, f verbs.Facts, s verbs.Secrets) (step, error) {
	e, body, err := t.newEntry(r, f, s)
	if err != nil {
		return step{}, err
	}
	return do(`WITH e AS (INSERT INTO event (id, at, tenant, event, action_id, body) VALUES ($1, $2, $3, $4, $5, $6) RETURNING place),
			s AS (INSERT INTO salt (place, salt) SELECT place, $7 FROM e)
		INSERT INTO unnumbered (place) SELECT place FROM e`,
		e.ID, e.At, e.Tenant, e.Event, e.Action, body, e.Salt[:]), nil
}

// record writes one entry of the audit log. If it cannot be written, the
// whole verb fails.
func (t *tx) record(r audit.Record, f verbs.Facts, s verbs.Secrets) error {
	e, err := t.entry(r, f, s)
	if err != nil {
		return fmt.Errorf("record %s: %w", r.Event, err)
	}
	e.fail = func(err error) error { return fmt.Errorf("record %s: %w", r.Event, err) }
	t.last(e)
	return nil
}

// maxNumbered is how many records one transaction numbers.
const maxNumbered = 1000

// numberRecords gives every committed record its number. One gateway at a
// time does; who comes second finds nothing left. The records of one action
// keep their order, because its changes wait for each other.
func (s *Store) numberRecords(ctx context.Context) error {
	for {
		waiting := int64(0)
		err := s.read(ctx, func(c *conn) (err error) {
			waiting, err = c.number("SELECT count(*) FROM (SELECT 1 FROM unnumbered LIMIT 1) AS u")
			return err
		})
		if err != nil || waiting == 0 {
			return err
		}
		n := 0
		if err := s.write(ctx, syncNormal, func(t *tx) (err error) { n, err = t.number1000(); return err }); err != nil {
			return err
		}
		if n < maxNumbered {
			return nil
		}
	}
}

// number1000 numbers the oldest records that have no number.
func (t *tx) number1000() (int, error) {
	last, err := t.conn.number("SELECT last FROM numbering WHERE one = 1 FOR UPDATE")
	if err != nil {
		return 0, err
	}
	var places, seqs []int64
	var leaves [][]byte
	err = t.query(func(cur *cursor) error {
		place := cur.int()
		r, err := audit.ParseLeaf(cur.blob())
		if err != nil {
			return fmt.Errorf("record at place %d: %w", place, err)
		}
		last++
		r.Seq = last
		leaf, err := r.Leaf()
		places, seqs, leaves = append(places, place), append(seqs, last), append(leaves, leaf)
		return err
	}, "SELECT e.place, e.body FROM unnumbered u JOIN event e ON e.place = u.place ORDER BY e.place LIMIT $1", maxNumbered)
	if err != nil || len(places) == 0 {
		return 0, err
	}
	return len(places), t.run(
		do(`INSERT INTO leaf (seq, place, leaf) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[])`, seqs, places, leaves),
		do("DELETE FROM unnumbered WHERE place = ANY ($1::bigint[])", places),
		do("UPDATE numbering SET last = $1 WHERE one = 1", last))
}

// Records lists entries of the audit log, newest first.
func (s *Store) Records(ctx context.Context, f audit.Filter) (out []audit.Record, err error) {
	if err := s.numberRecords(ctx); err != nil {
		return nil, err
	}
	var w where
	if f.Tenant != "" { // what stops everything is of no tenant
		w.text = append(w.text, "e.tenant IN ("+w.arg(f.Tenant)+", '')")
	}
	w.equal("e.action_id", f.Action)
	w.equal("e.event", f.Event)
	if f.Before > 0 {
		w.add("l.seq < ", f.Before)
	}
	most := w.arg(limit(f.Limit))
	err = s.read(ctx, func(c *conn) error {
		out = nil
		return c.query(func(cur *cursor) error {
			r, err := audit.ParseLeaf(cur.blob())
			out = append(out, r)
			return err
		}, "SELECT l.leaf FROM leaf l JOIN event e ON e.place = l.place "+w.sql()+" ORDER BY l.seq DESC LIMIT "+most, w.args...)
	})
	return out, err
}

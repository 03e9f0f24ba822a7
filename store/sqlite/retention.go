package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// ForgetPayloads erases what is past its time, some at a time, and says which
// keys may go. What has not ended is held until it has.
func (s *Store) ForgetPayloads(ctx context.Context, keep action.Retention) (out action.Forgotten, err error) {
	if err := verbs.MayForgetPayloads(keep); err != nil {
		return out, err
	}
	if err := s.settleReads(ctx); err != nil {
		return out, err
	}
	out.Before = map[action.Class]time.Time{}
	for _, class := range action.Classes() {
		for more := keep[class] > 0; more; {
			b := forgetting{class: class, keep: keep[class]}
			if err := s.forgetPayloads(ctx, &b); err != nil {
				return out, err
			}
			out.Actions, out.Records, out.Before[class], more = out.Actions+b.actions, out.Records+b.records, b.before, b.more
		}
	}
	if out.Actions+out.Records > 0 {
		if err := s.emptyJournal(ctx); err != nil {
			return out, err
		}
	}
	return out, s.read(ctx, func(c *conn) error { return tables.Held(c, &out, sealPlace().Row) })
}

// forgetting is one transaction's part of a class.
type forgetting struct {
	class            action.Class
	keep             time.Duration
	before           time.Time // start of the first day that is kept
	actions, records int
	more             bool
}

// forgetPayloads writes only where there is something to forget.
func (s *Store) forgetPayloads(ctx context.Context, b *forgetting) error {
	idle := false
	err := s.read(ctx, func(c *conn) (err error) {
		b.before = verbs.ForgetBefore(s.present(), b.keep)
		idle, err = c.nothingToForget(b)
		return err
	})
	if err != nil || idle {
		return err
	}
	return s.write(ctx, syncFull, func(t *tx) error {
		*b = forgetting{class: b.class, keep: b.keep, before: verbs.ForgetBefore(t.now, b.keep)}
		return t.forgetPayloads(b)
	})
}

const (
	placeSQL = "SELECT next, kept FROM retention WHERE class = ?"
	// aged are the actions behind a place, oldest first: the newest of them
	// may be too young.
	agedSQL = `SELECT seq, id, state, mutation, high_impact, created_at, erased_at FROM action WHERE seq >= ? ORDER BY seq LIMIT ?`
	// ended are the held ones that are over.
	endedSQL = `SELECT h.action_seq, a.id, a.erased_at FROM held h CROSS JOIN action a ON a.seq = h.action_seq
		WHERE h.class = ? AND a.state IN ('denied', 'succeeded', 'failed', 'reconciled_succeeded', 'reconciled_failed', 'expired', 'revoked') LIMIT ?`
	// agedRecordsSQL finds the last record of some that is old enough.
	agedRecordsSQL = `SELECT coalesce(max(seq), 0) FROM (SELECT seq, at FROM event WHERE seq >= ? ORDER BY seq LIMIT ?) WHERE at < ?`
)

func (c *conn) nothingToForget(b *forgetting) (bool, error) {
	next, kept := int64(0), time.Time{}
	if _, err := c.one(func(cur *cursor) error { next, kept = cur.int(), cur.time(); return nil }, placeSQL, int(b.class)); err != nil {
		return false, err
	}
	busy := !kept.Equal(b.before)
	look := func(cur *cursor) error { _, _, busy = cur.int(), cur.text(), true; return nil }
	if !busy {
		if _, err := c.one(look, endedSQL, int(b.class), 1); err != nil {
			return false, err
		}
	}
	if !busy {
		err := c.query(func(cur *cursor) error { row, _ := agedRow(cur); busy = row.CreatedAt.Before(b.before); return nil }, agedSQL, next, 1)
		return !busy, err
	}
	return false, nil
}

// agedRow reads what agedSQL asks for.
func agedRow(cur *cursor) (a action.Action, seq int64) {
	seq = cur.int()
	a = action.Action{ID: cur.text(), State: action.State(cur.text()), Mutation: cur.bool(), HighImpact: cur.bool(), CreatedAt: cur.time()}
	a.ErasedAt = cur.time()
	return a, seq
}

func (t *tx) forgetPayloads(b *forgetting) error {
	if err := t.forgetEnded(b); err != nil {
		return err
	}
	if err := t.forgetAged(b); err != nil {
		return err
	}
	if b.class == action.ClassRead {
		if err := t.forgetRecords(b); err != nil {
			return err
		}
	}
	if !b.more {
		if _, err := t.exec("UPDATE retention SET kept = ? WHERE class = ? AND kept < ?", b.before, int(b.class), b.before); err != nil {
			return fmt.Errorf("forget payloads: %w", err)
		}
	}
	if b.actions+b.records == 0 {
		return nil
	}
	return t.record(verbs.PayloadsRecord(b.class, b.before, b.actions, b.records))
}

// forgetEnded erases held actions that are over.
func (t *tx) forgetEnded(b *forgetting) error {
	ended := map[int64]string{}
	err := t.query(func(cur *cursor) error {
		seq, id := cur.int(), cur.text()
		if cur.time().IsZero() {
			ended[seq] = id
		} else {
			ended[seq] = "" // somebody has erased it
		}
		return nil
	}, endedSQL, int(b.class), verbs.MaxForgottenActions)
	if err != nil {
		return err
	}
	for seq, id := range ended {
		if id != "" {
			b.actions++
			if err := t.erasePayload(id); err != nil {
				return err
			}
		}
		if _, err := t.exec("DELETE FROM held WHERE action_seq = ?", seq); err != nil {
			return fmt.Errorf("forget payloads: %w", err)
		}
	}
	b.more = len(ended) == verbs.MaxForgottenActions
	return nil
}

// forgetAged goes on through the actions of a class.
func (t *tx) forgetAged(b *forgetting) error {
	next, last := int64(0), int64(0)
	if _, err := t.one(func(cur *cursor) error { next = cur.int(); return nil }, placeSQL, int(b.class)); err != nil {
		return err
	}
	var rows []action.Action
	var seqs []int64
	young := false
	err := t.query(func(cur *cursor) error {
		row, seq := agedRow(cur)
		if young = young || !row.CreatedAt.Before(b.before); !young {
			rows, seqs, last = append(rows, row), append(seqs, seq), seq
		}
		return nil
	}, agedSQL, next, verbs.MaxForgottenActions)
	if err != nil || len(rows) == 0 {
		return err
	}
	for i, row := range rows {
		erase, hold := verbs.Forgets(b.class, row)
		if erase {
			b.actions++
			err = t.erasePayload(row.ID)
		}
		if hold {
			_, err = t.exec("INSERT INTO held (action_seq, class) VALUES (?, ?) ON CONFLICT DO NOTHING", seqs[i], int(b.class))
		}
		if err != nil {
			return fmt.Errorf("forget payloads: %w", err)
		}
	}
	_, err = t.exec("UPDATE retention SET next = ? WHERE class = ?", last+1, int(b.class))
	b.more = b.more || len(rows) == verbs.MaxForgottenActions
	return err
}

// forgetRecords forgets the salts of records of calls that left no row.
func (t *tx) forgetRecords(b *forgetting) error {
	next := int64(0)
	if _, err := t.one(func(cur *cursor) error { next = cur.int(); return nil }, placeSQL, 0); err != nil {
		return err
	}
	last, err := t.number(agedRecordsSQL, next, verbs.MaxForgottenRecords, b.before)
	if err != nil || last == 0 {
		return err
	}
	events := verbs.WithoutRow()
	n, err := t.exec("UPDATE event SET salt = NULL WHERE seq BETWEEN ? AND ? AND salt IS NOT NULL AND event IN (?, ?, ?)",
		next, last, events[0], events[1], events[2])
	if err == nil {
		_, err = t.exec("UPDATE retention SET next = ? WHERE class = 0", last+1)
	}
	b.records, b.more = int(n), b.more || last-next+1 >= verbs.MaxForgottenRecords
	if err != nil {
		return fmt.Errorf("forget salts: %w", err)
	}
	return nil
}

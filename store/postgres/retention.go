package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// ForgetPayloads erases what is past its time, some at a time, and says which
// keys may go. What has not ended is held until it has. Like Erase it takes
// the rights of the tables' owner; under a gateway's own role it forgets
// nothing and says what the owner's has forgotten, so that this gateway's
// keys can go too.
func (s *Store) ForgetPayloads(ctx context.Context, keep action.Retention) (out action.Forgotten, err error) {
	if err := verbs.MayForgetPayloads(keep); err != nil {
		return out, err
	}
	out.Before = map[action.Class]time.Time{}
	for _, class := range action.Classes() {
		for more := keep[class] > 0; more; {
			b := forgetting{class: class, keep: keep[class]}
			err := s.write(ctx, syncFull, func(t *tx) error {
				b = forgetting{class: class, keep: keep[class], before: verbs.ForgetBefore(t.now(), keep[class])}
				return t.forgetPayloads(&b)
			})
			if code(err) == noRight {
				err = s.keptSince(ctx, &b)
			}
			if err != nil {
				return out, err
			}
			out.Actions, out.Records, out.Before[class], more = out.Actions+b.actions, out.Records+b.records, b.before, b.more
		}
	}
	return out, s.read(ctx, func(c *conn) error { return tables.Held(c, &out, sealPlace().Row) })
}

// noRight is the code of a statement that the role may not make.
const noRight = "42501"

// forgetting is one transaction's part of a class.
type forgetting struct {
	class            action.Class
	keep             time.Duration
	before           time.Time // start of the first day that is kept
	actions, records int
	more             bool
}

// keptSince is the first day that the tables' owner has kept, and that is to
// be kept.
func (s *Store) keptSince(ctx context.Context, b *forgetting) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	*b = forgetting{class: b.class, keep: b.keep, before: verbs.ForgetBefore(now, b.keep)}
	return s.read(ctx, func(c *conn) error {
		return c.query(func(cur *cursor) error {
			if kept := cur.time(); kept.Before(b.before) {
				b.before = kept
			}
			return nil
		}, "SELECT kept FROM retention WHERE class = $1", int(b.class))
	})
}

func (t *tx) forgetPayloads(b *forgetting) error {
	next := int64(0) // one gateway at a time
	if _, err := t.one(func(cur *cursor) error { next = cur.int(); return nil },
		"SELECT next FROM retention WHERE class = $1 FOR UPDATE", int(b.class)); err != nil {
		return err
	}
	if err := t.forgetEnded(b); err != nil {
		return err
	}
	if err := t.forgetAged(b, next); err != nil {
		return err
	}
	if b.class == action.ClassRead {
		if err := t.forgetRecords(b); err != nil {
			return err
		}
	}
	if !b.more {
		if _, err := t.exec("UPDATE retention SET kept = $1 WHERE class = $2 AND kept < $1", b.before, int(b.class)); err != nil {
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
	var over, erase []int64
	err := t.query(func(cur *cursor) error {
		seq := cur.int()
		if over = append(over, seq); cur.time().IsZero() {
			erase = append(erase, seq)
		}
		return nil
	}, `SELECT h.action_seq, a.erased_at FROM held h JOIN action a ON a.seq = h.action_seq WHERE h.class = $1
		AND a.state IN ('denied', 'succeeded', 'failed', 'reconciled_succeeded', 'reconciled_failed', 'expired', 'revoked') LIMIT $2`,
		int(b.class), verbs.MaxForgottenActions)
	if err != nil || len(over) == 0 {
		return err
	}
	b.actions, b.more = b.actions+len(erase), len(over) == verbs.MaxForgottenActions
	return t.run(append(t.erasure(erase), do("DELETE FROM held WHERE action_seq = ANY ($1::bigint[])", over))...)
}

// forgetAged goes on through the actions of a class.
func (t *tx) forgetAged(b *forgetting, next int64) error {
	var erase, hold []int64
	n, last, young := 0, int64(0), false
	err := t.query(func(cur *cursor) error {
		seq := cur.int()
		a := action.Action{State: action.State(cur.text()), Mutation: cur.bool(), HighImpact: cur.bool(), CreatedAt: cur.time()}
		a.ErasedAt = cur.time()
		if young = young || !a.CreatedAt.Before(b.before); young {
			return nil
		}
		n, last = n+1, seq
		if gone, held := verbs.Forgets(b.class, a); gone {
			erase = append(erase, seq)
		} else if held {
			hold = append(hold, seq)
		}
		return nil
	}, `SELECT seq, state, mutation, high_impact, created_at, erased_at FROM action WHERE seq >= $1 ORDER BY seq LIMIT $2`,
		next, verbs.MaxForgottenActions)
	if err != nil || n == 0 {
		return err
	}
	b.actions, b.more = b.actions+len(erase), b.more || n == verbs.MaxForgottenActions
	return t.run(append(t.erasure(erase),
		do("INSERT INTO held (action_seq, class) SELECT s, $2 FROM unnest($1::bigint[]) AS s ON CONFLICT DO NOTHING", hold, int(b.class)),
		do("UPDATE retention SET next = $1 WHERE class = $2", last+1, int(b.class)))...)
}

// erasure forgets what tells of the arguments of some actions.
func (t *tx) erasure(seqs []int64) []step {
	const those = " (SELECT id FROM action WHERE seq = ANY ($1::bigint[]))"
	return []step{
		do(`UPDATE action SET erased_at = $2, fingerprint = NULL, hash = NULL, targets = '[]', evidence = '[]', changes = '[]',
			reason = '', end_detail = '' WHERE seq = ANY ($1::bigint[]) AND erased_at IS NULL`, seqs, t.now()),
		do(`UPDATE payload SET raw = NULL, requested = NULL, args = NULL, preview = NULL, facts = NULL, result = NULL
			WHERE action_seq = ANY ($1::bigint[])`, seqs),
		do("UPDATE standing_grant SET revoked_at = $2 WHERE source IN"+those+" AND revoked_at IS NULL", seqs, t.now()),
		do("UPDATE standing_grant SET scope = NULL WHERE source IN"+those, seqs),
		do("DELETE FROM salt WHERE place IN (SELECT place FROM event WHERE action_id IN"+those+")", seqs),
		do("UPDATE approval SET nonce = $2 || action_id, preview = NULL WHERE action_id IN"+those, seqs, verbs.ErasedNonce("")),
	}
}

// forgetRecords forgets the salts of records of calls that left no row.
func (t *tx) forgetRecords(b *forgetting) error {
	next := int64(0)
	if _, err := t.one(func(cur *cursor) error { next = cur.int(); return nil },
		"SELECT next FROM retention WHERE class = 0 FOR UPDATE"); err != nil {
		return err
	}
	last, err := t.conn.number(`SELECT coalesce(max(place), 0) FROM (SELECT place, at FROM event WHERE place >= $1 ORDER BY place LIMIT $2) AS e
		WHERE at < $3`, next, verbs.MaxForgottenRecords, b.before)
	if err != nil || last == 0 {
		return err
	}
	n, err := t.exec(`DELETE FROM salt WHERE place IN (SELECT place FROM event WHERE place BETWEEN $1 AND $2 AND event = ANY ($3::text[]))`,
		next, last, verbs.WithoutRow())
	if err == nil {
		_, err = t.exec("UPDATE retention SET next = $1 WHERE class = 0", last+1)
	}
	b.records, b.more = int(n), b.more || last-next+1 >= verbs.MaxForgottenRecords
	if err != nil {
		return fmt.Errorf("forget salts: %w", err)
	}
	return nil
}

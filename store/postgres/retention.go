package postgres

import (
	"context"
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
			f := tables.Forgetting{Class: class, Keep: keep[class]}
			err := s.write(ctx, syncFull, func(t *tx) error {
				f = f.At(t.now())
				return tables.Forget(t, &f)
			})
			if code(err) == noRight {
				err = s.keptSince(ctx, &f)
			}
			if err != nil {
				return out, err
			}
			out.Actions, out.Records, out.Before[class], more = out.Actions+f.Actions, out.Records+f.Records, f.Before, f.More
		}
	}
	return out, s.read(ctx, func(c *conn) error { return tables.Held(c, &out, sealPlace().Row) })
}

// noRight is the code of a statement that the role may not make.
const noRight = "42501"

// keptSince is the first day that the tables' owner has kept, and that is to
// be kept.
func (s *Store) keptSince(ctx context.Context, f *tables.Forgetting) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	*f = f.At(now)
	return s.read(ctx, func(c *conn) error {
		return c.query(func(cur *cursor) error {
			if kept := cur.time(); kept.Before(f.Before) {
				f.Before = kept
			}
			return nil
		}, "SELECT kept FROM retention WHERE class = $1", int(f.Class))
	})
}

func numbers(those []tables.Aged) []int64 {
	out := make([]int64, len(those))
	for i, a := range those {
		out[i] = a.Seq
	}
	return out
}

// EraseArguments forgets what tells of the arguments of actions.
func (t *tx) EraseArguments(those []tables.Aged) error {
	t.last(t.erasure(numbers(those))...)
	return nil
}

// HoldBack keeps actions to be erased once they have ended.
func (t *tx) HoldBack(those []tables.Aged, class action.Class) error {
	t.last(do("INSERT INTO held (action_seq, class) SELECT s, $2 FROM unnest($1::bigint[]) AS s ON CONFLICT DO NOTHING", numbers(those), int(class)))
	return nil
}

// LetGo no longer holds actions back.
func (t *tx) LetGo(those []tables.Aged) error {
	t.last(do("DELETE FROM held WHERE action_seq = ANY ($1::bigint[])", numbers(those)))
	return nil
}

// EraseSalts forgets salts of records of calls that left no row.
func (t *tx) EraseSalts(from int64, before time.Time) (last, n int64, err error) {
	last, err = t.conn.number(`SELECT coalesce(max(place), 0) FROM (SELECT place, at FROM event WHERE place >= $1 ORDER BY place LIMIT $2) AS e
		WHERE at < $3`, from, verbs.MaxForgottenRecords, before)
	if err != nil || last == 0 {
		return 0, 0, err
	}
	n, err = t.exec(`DELETE FROM salt WHERE place IN (SELECT place FROM event WHERE place BETWEEN $1 AND $2 AND event = ANY ($3::text[]))`,
		from, last, verbs.WithoutRow())
	return last, n, err
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

package sqlite

import (
	"context"
	"slices"
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
			f := tables.Forgetting{Class: class, Keep: keep[class]}
			if err := s.forgetPayloads(ctx, &f); err != nil {
				return out, err
			}
			out.Actions, out.Records, out.Before[class], more = out.Actions+f.Actions, out.Records+f.Records, f.Before, f.More
		}
	}
	if s.leftover.Load() {
		if err := s.emptyJournal(ctx); err != nil {
			return out, err
		}
	}
	return out, s.read(ctx, func(c *conn) error { return tables.Held(c, &out, sealPlace().Row) })
}

// forgetPayloads writes only where there is something to forget.
func (s *Store) forgetPayloads(ctx context.Context, f *tables.Forgetting) error {
	idle := false
	err := s.read(ctx, func(c *conn) (err error) {
		*f = f.At(s.present())
		idle, err = tables.NothingToForget(c, *f)
		return err
	})
	if err != nil || idle {
		return err
	}
	err = s.write(ctx, syncFull, func(t *tx) error {
		*f = f.At(t.now)
		return tables.Forget(t, f)
	})
	if err == nil && f.Actions+f.Records > 0 {
		s.leftover.Store(true)
	}
	return err
}

// EraseArguments forgets what tells of the arguments of actions.
func (t *tx) EraseArguments(those []tables.Aged) error {
	for _, a := range those {
		if err := t.erasePayload(a.ID); err != nil {
			return err
		}
	}
	return nil
}

// HoldBack keeps actions to be erased once they have ended.
func (t *tx) HoldBack(those []tables.Aged, class action.Class) error {
	for _, a := range those {
		if _, err := t.exec("INSERT INTO held (action_seq, class) VALUES (?, ?) ON CONFLICT DO NOTHING", a.Seq, int(class)); err != nil {
			return err
		}
	}
	return nil
}

// LetGo no longer holds actions back.
func (t *tx) LetGo(those []tables.Aged) error {
	for _, a := range those {
		if _, err := t.exec("DELETE FROM held WHERE action_seq = ?", a.Seq); err != nil {
			return err
		}
	}
	return nil
}

// EraseSalts forgets salts of records of calls that left no row.
func (t *tx) EraseSalts(from int64, before time.Time) (last, n int64, err error) {
	events := verbs.WithoutRow()
	n, err = t.forgetSalts(func(k kept) (bool, error) {
		if k.seq < from || k.seq >= from+verbs.MaxForgottenRecords {
			return false, nil
		}
		r, err := k.skim()
		if err != nil || !r.At.Before(before) {
			return false, nil // what cannot be read a check tells of, and the rest goes on
		}
		last = k.seq
		return slices.Contains(events, r.Event), nil
	}, "SELECT "+packColumns+" FROM event_pack WHERE first >= "+packWith+" AND first < ? ORDER BY first",
		from, from+verbs.MaxForgottenRecords)
	return last, n, err
}

package tables

import (
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Forgetting is one transaction's part of forgetting the payloads of a class.
type Forgetting struct {
	Class            action.Class
	Keep             time.Duration
	Before           time.Time // start of the first day that is kept
	Actions, Records int
	More             bool // there is more to forget
}

// At is the same part, not begun, at a time.
func (f Forgetting) At(now time.Time) Forgetting {
	return Forgetting{Class: f.Class, Keep: f.Keep, Before: verbs.ForgetBefore(now, f.Keep)}
}

// Aged is an action as far as forgetting cares, with its number.
type Aged struct {
	Seq int64
	action.Action
}

// Eraser is an open transaction that forgets.
type Eraser interface {
	Tx
	// EraseArguments forgets what tells of the arguments of actions.
	EraseArguments(those []Aged) error
	// HoldBack keeps actions to be erased once they have ended; LetGo no longer.
	HoldBack(those []Aged, class action.Class) error
	LetGo(those []Aged) error
	// EraseSalts forgets the salts of records from a place on that are older
	// than a time and of calls that left no row, of verbs.MaxForgottenRecords
	// records at most. It returns the last place that it came to, 0 for none,
	// and how many salts it forgot.
	EraseSalts(from int64, before time.Time) (last, n int64, err error)
}

const (
	// aged are the actions behind a place, oldest first: the newest of them
	// may be too young.
	aged = "SELECT seq, id, state, mutation, high_impact, created_at, erased_at FROM action WHERE seq >= $1 ORDER BY seq LIMIT $2"
	// ended are the held ones that are over. SQLite takes the few first.
	ended = `SELECT a.seq, a.id, a.state, a.mutation, a.high_impact, a.created_at, a.erased_at FROM held h JOIN action a ON a.seq = h.action_seq
		WHERE h.class = $1 AND a.state IN ('denied', 'succeeded', 'failed', 'reconciled_succeeded', 'reconciled_failed', 'expired', 'revoked') LIMIT $2`
)

func agedOf(c Reader, sql string, args ...any) (out []Aged, err error) {
	err = c.Query(func(cur Row) error {
		a := Aged{Seq: cur.Int(), Action: action.Action{ID: cur.Text(), State: action.State(cur.Text()), Mutation: cur.Bool(), HighImpact: cur.Bool(),
			CreatedAt: cur.Time()}}
		a.ErasedAt = cur.Time()
		out = append(out, a)
		return nil
	}, sql, args...)
	return out, err
}

func place(c Reader, class int) (next int64, kept time.Time, err error) {
	err = c.Query(func(cur Row) error { next, kept = cur.Int(), cur.Time(); return nil }, "SELECT next, kept FROM retention WHERE class = $1", class)
	return next, kept, err
}

// NothingToForget reports that nothing of a class is past its time.
func NothingToForget(c Reader, f Forgetting) (bool, error) {
	next, kept, err := place(c, int(f.Class))
	if err != nil || !kept.Equal(f.Before) {
		return false, err
	}
	over, err := agedOf(c, ended, int(f.Class), 1)
	if err != nil || len(over) > 0 {
		return false, err
	}
	first, err := agedOf(c, aged, next, 1)
	return len(first) == 0 || !first[0].CreatedAt.Before(f.Before), err
}

// Forget erases what is past its time, and holds what has not ended.
func Forget(t Eraser, f *Forgetting) error {
	if err := t.Hold("SELECT 1 FROM retention WHERE class = $1", int(f.Class)); err != nil { // one at a time
		return err
	}
	next, _, err := place(t, int(f.Class))
	if err != nil {
		return err
	}
	if err := forgetEnded(t, f); err != nil {
		return fmt.Errorf("forget payloads: %w", err)
	}
	if err := forgetAged(t, f, next); err != nil {
		return fmt.Errorf("forget payloads: %w", err)
	}
	if f.Class == action.ClassRead {
		if err := forgetRecords(t, f); err != nil {
			return fmt.Errorf("forget salts: %w", err)
		}
	}
	if !f.More {
		if _, err := t.Exec("UPDATE retention SET kept = $1 WHERE class = $2 AND kept < $1", f.Before, int(f.Class)); err != nil {
			return fmt.Errorf("forget payloads: %w", err)
		}
	}
	if f.Actions+f.Records == 0 {
		return nil
	}
	return t.Record(verbs.PayloadsRecord(f.Class, f.Before, f.Actions, f.Records))
}

// forgetEnded erases held actions that are over, unless somebody has.
func forgetEnded(t Eraser, f *Forgetting) error {
	over, err := agedOf(t, ended, int(f.Class), verbs.MaxForgottenActions)
	if err != nil || len(over) == 0 {
		return err
	}
	var erase []Aged
	for _, a := range over {
		if a.ErasedAt.IsZero() {
			erase = append(erase, a)
		}
	}
	f.Actions, f.More = f.Actions+len(erase), len(over) == verbs.MaxForgottenActions
	if err := t.EraseArguments(erase); err != nil {
		return err
	}
	return t.LetGo(over)
}

// forgetAged goes on through the actions, from a place on.
func forgetAged(t Eraser, f *Forgetting, next int64) error {
	all, err := agedOf(t, aged, next, verbs.MaxForgottenActions)
	if err != nil {
		return err
	}
	var erase, hold []Aged
	n := 0
	for ; n < len(all) && all[n].CreatedAt.Before(f.Before); n++ {
		if gone, held := verbs.Forgets(f.Class, all[n].Action); gone {
			erase = append(erase, all[n])
		} else if held {
			hold = append(hold, all[n])
		}
	}
	if n == 0 {
		return nil
	}
	f.Actions, f.More = f.Actions+len(erase), f.More || n == verbs.MaxForgottenActions
	if err := t.EraseArguments(erase); err != nil {
		return err
	}
	if err := t.HoldBack(hold, f.Class); err != nil {
		return err
	}
	_, err = t.Exec("UPDATE retention SET next = $1 WHERE class = $2", all[n-1].Seq+1, int(f.Class))
	return err
}

// records is the class under which the place in the records stands.
const records = 0

// forgetRecords forgets the salts of records of calls that left no row.
func forgetRecords(t Eraser, f *Forgetting) error {
	if err := t.Hold("SELECT 1 FROM retention WHERE class = $1", records); err != nil {
		return err
	}
	next, _, err := place(t, records)
	if err != nil {
		return err
	}
	last, n, err := t.EraseSalts(next, f.Before)
	if err != nil || last == 0 {
		return err
	}
	f.Records, f.More = f.Records+int(n), f.More || last-next+1 >= verbs.MaxForgottenRecords
	_, err = t.Exec("UPDATE retention SET next = $1 WHERE class = $2", last+1, records)
	return err
}

// Held adds to what was forgotten what is not to be forgotten yet: what has
// not ended, and seal, the word that shows the sealing key.
func Held(c Reader, out *action.Forgotten, seal string) error {
	out.Held = []action.HeldPayload{{ID: seal}}
	if err := c.Query(func(cur Row) error {
		out.Held = append(out.Held, action.HeldPayload{Tenant: cur.Text(), ID: cur.Text(), Class: action.Class(cur.Int()), CreatedAt: cur.Time()})
		return nil
	}, "SELECT a.tenant, a.id, CAST(h.class AS BIGINT), a.created_at FROM held h JOIN action a ON a.seq = h.action_seq ORDER BY h.action_seq"); err != nil {
		return err
	}
	shelved := time.Time{}
	err := c.Query(func(cur Row) error { shelved = cur.Time(); return nil }, "SELECT at FROM schema_version WHERE name = 'retention'")
	out.Old = err == nil && !shelved.IsZero() && verbs.OldForgotten(out.Before, shelved)
	return err
}

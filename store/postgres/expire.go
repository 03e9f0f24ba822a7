package postgres

import (
	"context"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// maxSwept is how many rows one transaction of Expire moves.
const maxSwept = 200

// overdue finds what has run out; $1 is now.
const overdue = `((a.state IN ('pending_approval', 'approved', 'claimed') AND a.deadline <= $1)
	OR (a.state = 'executing' AND a.lease_until <= $1))`

// overdueWhere finds what has run out and, with orphans, what a gateway that
// is silent left running.
func (s *Store) overdueWhere(orphans bool) (sql string, more []any) {
	if !orphans {
		return "WHERE " + overdue, nil
	}
	return "WHERE (" + overdue + " OR (a.state = 'executing' AND " + dead("$2", "$3::bigint") + "))", []any{s.process, int64(silence)}
}

// Expire ends what is overdue and, with orphans, what a gateway that has left
// or fallen silent left running. Rows that somebody is moving are left to
// them.
func (s *Store) Expire(ctx context.Context, orphans bool) ([]action.Action, error) {
	if err := s.numberRecords(ctx); err != nil {
		return nil, err
	}
	if orphans {
		if err := s.adopt(ctx); err != nil {
			return nil, err
		}
	}
	var all []action.Action
	for {
		moved, err := s.sweep(ctx, orphans)
		all = append(all, moved...)
		if err != nil || len(moved) < maxSwept {
			return all, err
		}
	}
}

// adopt notes that the callers of silent gateways are gone and that their
// claims are free to be taken over, and forgets gateways long silent.
func (s *Store) adopt(ctx context.Context) error {
	return s.write(ctx, syncFull, func(t *tx) error {
		if err := t.run(
			do(`UPDATE action a SET caller_gone = TRUE WHERE NOT a.caller_gone
				AND a.state IN ('pending_approval', 'approved', 'claimed', 'executing', 'uncertain')
				AND `+dead("$1", "$2::bigint"), s.process, int64(silence)),
			do("UPDATE action a SET lease_until = $3 WHERE a.state = 'claimed' AND a.lease_until > $3 AND "+dead("$1", "$2::bigint"),
				s.process, int64(silence), t.now()),
			do("DELETE FROM process WHERE seen_at < "+realNow+" - 100 * $1::bigint", int64(silence))); err != nil {
			return fmt.Errorf("adopt what silent gateways left: %w", err)
		}
		return nil
	})
}

func (s *Store) sweep(ctx context.Context, orphans bool) ([]action.Action, error) {
	ids, err := s.sweepable(ctx, orphans)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	var moved []action.Action
	err = s.write(ctx, syncFull, func(t *tx) error {
		moved = nil
		rows, err := t.overdue(orphans)
		if err != nil {
			return err
		}
		for _, row := range rows {
			out, err := t.carry(row, verbs.Expire(row))
			if err != nil {
				return err
			}
			moved = append(moved, out)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return moved, nil
}

// sweepable asks whether there is anything to sweep, without a write.
func (s *Store) sweepable(ctx context.Context, orphans bool) (ids []string, err error) {
	where, more := s.overdueWhere(orphans)
	err = s.read(ctx, func(c *conn) error {
		ids = nil
		now, err := s.peekClock(c)
		if err != nil {
			return err
		}
		return c.query(func(cur *cursor) error { ids = append(ids, cur.text()); return nil },
			"SELECT a.id FROM action a "+where+" LIMIT 1", append([]any{now}, more...)...)
	})
	return ids, err
}

// overdue locks rows that have run out and reads them as they then are.
func (t *tx) overdue(orphans bool) ([]action.Action, error) {
	where, more := t.store.overdueWhere(orphans)
	args := append([]any{t.now()}, more...)
	var ids []string
	err := t.query(func(cur *cursor) error { ids = append(ids, cur.text()); return nil },
		fmt.Sprintf("SELECT a.id FROM action a %s ORDER BY a.seq LIMIT %d FOR UPDATE OF a SKIP LOCKED", where, maxSwept), args...)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return t.store.list(t.conn, "WHERE a.id = ANY ($1::text[]) ORDER BY a.seq", ids)
}

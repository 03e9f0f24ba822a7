package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// maxSwept is how many rows one transaction of Expire moves.
const maxSwept = 500

// overdue finds what has run out; the parameters are now and now.
const overdue = "WHERE " + flying + ` AND a.state IN ('pending_approval', 'approved', 'claimed', 'executing')
	AND ((a.state <> 'executing' AND a.deadline <= ?) OR (a.state = 'executing' AND a.lease_until <= ?)`

// orphaned finds what an earlier process left running.
const orphaned = ` OR (a.state = 'executing' AND a.process <> ?))`

// Expire ends what is overdue and, with orphans, what an earlier process of
// this store left running.
func (s *Store) Expire(ctx context.Context, orphans bool) ([]action.Action, error) {
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

// adopt notes that the callers of an earlier process are gone and that its
// claims are free to be taken over.
func (s *Store) adopt(ctx context.Context) error {
	return s.write(ctx, syncFull, func(t *tx) error {
		if _, err := t.exec(`UPDATE action SET caller_gone = 1 WHERE caller_gone = 0 AND process <> ?
			AND `+flying, s.process); err != nil {
			return fmt.Errorf("note that callers left: %w", err)
		}
		if _, err := t.exec("UPDATE action SET lease_until = ? WHERE "+indexed+" AND state = 'claimed' AND lease_until > ? AND process <> ?",
			t.now, t.now, s.process); err != nil {
			return fmt.Errorf("free claims: %w", err)
		}
		return nil
	})
}

func (s *Store) sweep(ctx context.Context, orphans bool) ([]action.Action, error) {
	if idle, err := s.idle(ctx, orphans); idle || err != nil {
		return nil, err
	}
	var moved []action.Action
	err := s.write(ctx, syncFull, func(t *tx) error {
		moved = nil
		rows, err := s.list(t.conn, overdueWhere(orphans)+" ORDER BY a.seq LIMIT ?",
			append(s.overdueArgs(t.now, orphans), maxSwept)...)
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

func overdueWhere(orphans bool) string {
	if orphans {
		return overdue + orphaned
	}
	return overdue + ")"
}

func (s *Store) overdueArgs(now time.Time, orphans bool) []any {
	if orphans {
		return []any{now, now, s.process}
	}
	return []any{now, now}
}

// idle reports whether there is nothing to sweep, without a write.
func (s *Store) idle(ctx context.Context, orphans bool) (bool, error) {
	n := int64(0)
	err := s.read(ctx, func(c *conn) (err error) {
		now := s.present()
		n, err = c.number("SELECT count(*) FROM action a "+overdueWhere(orphans), s.overdueArgs(now, orphans)...)
		return err
	})
	return n == 0, err
}

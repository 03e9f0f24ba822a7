package sqlite

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// resent holds for a row whose attempt has been sent again: its fence has
// risen since the attempt began. An attempt that began with its row has no row
// of its own; its fence was the first.
const resent = `a.fence > coalesce((SELECT r.fence FROM attempt r WHERE r.action_seq = a.seq AND r.attempt = a.attempt), 1)`

// withAttempt joins a row with its latest attempt.
const withAttempt = ` FROM action a LEFT JOIN attempt t ON t.action_seq = a.seq AND t.attempt = a.attempt WHERE a.attempt > 0 AND `

// resend moves an uncertain row back to executing.
func (s *Store) resend(ctx context.Context, start action.Start) (action.Action, error) {
	if err := verbs.Resends(start); err != nil {
		return action.Action{}, err
	}
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := t.resendable(start)
		if err != nil {
			return row, err
		}
		return t.carry(row, verbs.Resend(row, t.now, start.Lease))
	})
}

// resendable checks everything that must hold before an attempt is sent
// again: what the commit point checks, the provider's memory, and that
// nothing has taken the action's place.
func (t *tx) resendable(start action.Start) (action.Action, error) {
	row, err := t.store.load(t.conn, start.Action.ID)
	if err != nil {
		return action.Action{}, err
	}
	first, err := t.firstSent(row)
	if err == nil {
		err = verbs.MayResend(row, start, first, t.now)
	}
	if err == nil && row.Terms != nil {
		_, err = t.backed(row, true)
	}
	if err != nil {
		return row, err
	}
	if found, err := t.open(&row); err != nil {
		return found, err
	}
	return row, t.unchallenged(row, first, start.Resend.Alone)
}

// unchallenged looks for what was made to replace the row and, if it must be
// alone, for what has begun on its targets since.
func (t *tx) unchallenged(row action.Action, first time.Time, alone bool) error {
	n, err := t.number("SELECT count(*) FROM action WHERE supersedes = ? AND supersedes <> '' AND state NOT IN ('denied', 'expired', 'revoked')", row.ID)
	if err != nil {
		return err
	}
	meets := n > 0
	if err == nil && alone && !meets {
		meets, err = t.overtaken(row, first)
	}
	if err == nil && meets {
		err = action.ErrOvertaken
	}
	return err
}

// overtaken reports whether something has begun on the targets of a row since
// a time: with its own row since then, or by an attempt of its own.
func (t *tx) overtaken(row action.Action, first time.Time) (meets bool, err error) {
	since, err := tables.FirstSince(t, first)
	if err != nil {
		return false, err
	}
	err = t.query(func(cur *cursor) error {
		later := action.Action{Tool: cur.text()}
		err := verbs.ParseTargets(cur.text(), &later.Targets)
		meets = meets || verbs.Overtakes(row, later)
		return err
	}, `SELECT b.tool, b.targets FROM action b WHERE b.tenant = ? AND b.seq >= ? AND b.attempt > 0 AND b.id <> ?
		UNION ALL SELECT b.tool, b.targets FROM attempt t CROSS JOIN action b ON b.seq = t.action_seq
		WHERE t.started_at >= ? AND b.tenant = ? AND b.id <> ?`, row.Tenant, since, row.ID, first, row.Tenant, row.ID)
	return meets, err
}

// firstSent is when the row's attempt began; zero where it has none.
func (t *tx) firstSent(row action.Action) (first time.Time, err error) {
	_, err = t.one(func(cur *cursor) error { first = cur.time(); return nil },
		"SELECT coalesce(t.started_at, a.created_at)"+withAttempt+"a.id = ?", row.ID)
	return first, err
}

// SentTo names the server that the latest attempt of a row went to.
func (s *Store) SentTo(ctx context.Context, tenant, id string) (server canon.Digest, err error) {
	err = s.read(ctx, func(c *conn) error {
		found := false
		err := c.query(func(cur *cursor) error { server, found = cur.digest(), true; return cur.err },
			"SELECT coalesce(t.server, a.server)"+withAttempt+"a.tenant = ? AND a.id = ?", tenant, id)
		if err == nil && !found {
			err = action.ErrNotFound
		}
		return err
	})
	return server, err
}

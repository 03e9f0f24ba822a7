package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// resent holds for a row whose attempt has been sent again: its fence has
// risen since the attempt began.
const resent = `EXISTS (SELECT 1 FROM attempt r WHERE r.action_seq = a.seq AND r.attempt = a.attempt AND r.fence < a.fence)`

// resend moves an uncertain row back to executing.
func (t *tx) resend(start action.Start) (action.Action, error) {
	t.settling = true
	row, err := t.resendable(start)
	if err != nil {
		return row, err
	}
	return t.carry(row, verbs.Resend(row, t.now(), start.Lease))
}

// resendable locks the row and checks everything that must hold before an
// attempt is sent again: what the commit point checks, the provider's memory,
// and that nothing has taken the action's place.
func (t *tx) resendable(start action.Start) (action.Action, error) {
	row, err := t.lock(start.Action.ID)
	if err != nil {
		return action.Action{}, err
	}
	first, err := t.firstSent(row)
	if err == nil {
		err = verbs.MayResend(row, start, first, t.now())
	}
	if err == nil && row.Terms != nil {
		_, err = t.backed(row, true)
	}
	if err != nil {
		return row, err
	}
	others := row
	others.Mutation = false // other uncertain rows are no obstacle: this is not a new action
	if _, err := t.open(others); err != nil {
		return row, err
	}
	if err := t.unchallenged(row, first, start.Resend.Alone); err != nil {
		return row, err
	}
	now, err := t.store.peekClock(t.conn)
	if err != nil {
		return action.Action{}, err
	}
	return row, verbs.MayResend(row, start, first, now) // nothing of it ran out while this waited for others
}

// unchallenged looks for what was made to replace the row and, if it must be
// alone, for what has begun on its targets since. Whoever replaces it has
// locked it first, so that no replacement can be on its way.
func (t *tx) unchallenged(row action.Action, first time.Time, alone bool) error {
	n, err := t.number("SELECT count(*) FROM action WHERE supersedes = $1 AND supersedes <> '' AND state NOT IN ('denied', 'expired', 'revoked')", row.ID)
	if err != nil {
		return err
	}
	meets := n > 0
	if alone && !meets {
		err = t.query(func(cur *cursor) error {
			later := action.Action{Tool: cur.text()}
			err := verbs.ParseTargets(cur.text(), &later.Targets)
			meets = meets || verbs.Overtakes(row, later)
			return err
		}, `SELECT b.tool, b.targets FROM attempt t JOIN action b ON b.seq = t.action_seq
			WHERE t.started_at >= $1 AND b.tenant = $2 AND b.id <> $3`, first, row.Tenant, row.ID)
	}
	if err == nil && meets {
		err = action.ErrOvertaken
	}
	return err
}

// firstSent is when the row's attempt began; zero where it has none.
func (t *tx) firstSent(row action.Action) (first time.Time, err error) {
	_, err = t.one(func(cur *cursor) error { first = cur.time(); return nil },
		"SELECT started_at FROM attempt WHERE action_seq = (SELECT seq FROM action WHERE id = $1) AND attempt = $2", row.ID, row.Attempt)
	if err != nil {
		return first, fmt.Errorf("read attempt: %w", err)
	}
	return first, nil
}

// replaces locks the row that a new one supersedes: its attempt is not sent
// again while the new row is being made.
func replaces(a action.Action) []step {
	if a.Supersedes == "" {
		return nil
	}
	return []step{do("SELECT 1 FROM action WHERE id = $1 FOR UPDATE", a.Supersedes)}
}

// SentTo names the server that the latest attempt of a row went to.
func (s *Store) SentTo(ctx context.Context, tenant, id string) (server canon.Digest, err error) {
	err = s.read(ctx, func(c *conn) error {
		found := false
		err := c.query(func(cur *cursor) error { server, found = cur.digest(), true; return cur.err },
			`SELECT t.server FROM action a JOIN attempt t ON t.action_seq = a.seq AND t.attempt = a.attempt
			WHERE a.tenant = $1 AND a.id = $2`, tenant, id)
		if err == nil && !found {
			err = action.ErrNotFound
		}
		return err
	})
	return server, err
}

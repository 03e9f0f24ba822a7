package sqlite

import (
	"context"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

const succeededBefore = "SELECT count(*), max(ended_at), id FROM action WHERE (state = 'succeeded' OR state = 'reconciled_succeeded') AND id <> ? AND "

// Earlier counts what is like an action and took effect. An action without
// targets is like every other of its tool that has none.
func (s *Store) Earlier(ctx context.Context, a action.Action) (e action.Earlier, err error) {
	targets := verbs.TargetsText(a.Targets)
	err = s.read(ctx, func(c *conn) error {
		if e.Like, err = series(c, succeededBefore+"tenant = ? AND tool = ? AND targets = ?", a.ID, a.Tenant, a.Tool, targets); err != nil {
			return err
		}
		if e.Same, err = series(c, succeededBefore+"tenant = ? AND tool = ? AND targets = ? AND fingerprint = ? AND principal = ?",
			a.ID, a.Tenant, a.Tool, targets, a.Fingerprint, a.Principal); err != nil {
			return err
		}
		n, err := c.number("SELECT count(*) FROM action WHERE state = 'uncertain' AND "+indexed+" AND id <> ? AND +tenant = ? AND tool = ? AND targets = ?",
			a.ID, a.Tenant, a.Tool, targets)
		e.Uncertain = int(n)
		return err
	})
	return e, err
}

// series reads a count with its newest row; SQLite takes the other columns
// from the row that has the maximum.
func series(c *conn, sql string, args ...any) (found action.Series, err error) {
	err = c.query(func(cur *cursor) error {
		found.Succeeded, found.Last, found.LastID = int(cur.int()), cur.time(), cur.text()
		return nil
	}, sql, args...)
	return found, err
}

package postgres

import (
	"context"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

const succeededBefore = `SELECT count(*) OVER (), ended_at, id FROM action
	WHERE state IN ('succeeded', 'reconciled_succeeded') AND id <> $1 AND tenant = $2 AND `

const newestFirst = " ORDER BY ended_at DESC NULLS LAST, seq DESC LIMIT 1"

// Earlier counts what is like an action and took effect. An action without
// targets is like every other of its tool that has none.
func (s *Store) Earlier(ctx context.Context, a action.Action) (e action.Earlier, err error) {
	targets := verbs.TargetsText(a.Targets)
	err = s.read(ctx, func(c *conn) error {
		if e.Like, err = series(c, succeededBefore+"tool = $3 AND targets = $4 AND left(targets, 200) = left($4, 200)"+newestFirst, a.ID, a.Tenant, a.Tool, targets); err != nil {
			return err
		}
		if e.Same, err = series(c, succeededBefore+`tool = $3 AND targets = $4 AND left(targets, 200) = left($4, 200)
			AND principal = $5 AND fingerprint = $6`+newestFirst, a.ID, a.Tenant, a.Tool, targets, a.Principal, a.Fingerprint); err != nil {
			return err
		}
		n, err := c.number("SELECT count(*) FROM action WHERE state = 'uncertain' AND id <> $1 AND tenant = $2 AND tool = $3 AND targets = $4",
			a.ID, a.Tenant, a.Tool, targets)
		e.Uncertain = int(n)
		return err
	})
	return e, err
}

func series(c *conn, sql string, args ...any) (found action.Series, err error) {
	err = c.query(func(cur *cursor) error {
		found.Succeeded, found.Last, found.LastID = int(cur.int()), cur.time(), cur.text()
		return nil
	}, sql, args...)
	return found, err
}

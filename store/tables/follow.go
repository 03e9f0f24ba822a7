package tables

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
)

// Followers keeps who has been told the log up to where, for a store that
// embeds it. No sync is awaited: a place that is forgotten has records told
// twice.
type Followers struct{ db DB }

// NewFollowers are the followers of a store's log.
func NewFollowers(db DB) Followers { return Followers{db} }

// Follow takes or prolongs the lease of a place in the log.
func (f Followers) Follow(ctx context.Context, name, by string, start int64, lease time.Duration) (p audit.Place, err error) {
	err = f.db.Write(ctx, written, func(t Tx) error {
		if _, err := t.Exec(`INSERT INTO follower AS f (name, next, owner, until) VALUES ($1, $2, $3, $4)
			ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
			WHERE f.owner = excluded.owner OR f.until <= $5`, name, max(start, 0), by, t.Now().Add(lease), t.Now()); err != nil {
			return fmt.Errorf("follow the log: %w", err)
		}
		return t.Query(func(cur Row) error { p = followed(cur); return nil }, selectPlace+" WHERE name = $1", name)
	})
	return p, err
}

const selectPlace = "SELECT name, next, owner, until, at FROM follower"

func followed(cur Row) audit.Place {
	return audit.Place{Name: cur.Text(), Next: cur.Int(), By: cur.Text(), Until: cur.Time(), At: cur.Time()}
}

// Advance moves a place forward for whoever holds its lease.
func (f Followers) Advance(ctx context.Context, name, by string, next int64) (moved bool, err error) {
	err = f.db.Write(ctx, written, func(t Tx) error {
		n, err := t.Exec("UPDATE follower SET next = $1, at = $2 WHERE name = $3 AND owner = $4 AND until > $2 AND next < $1",
			next, t.Now(), name, by)
		moved = n == 1
		return err
	})
	return moved, err
}

// Places lists the places in the log by name.
func (f Followers) Places(ctx context.Context) ([]audit.Place, error) {
	return many(ctx, f.db, func(c Reader) (out []audit.Place, err error) {
		err = c.Query(func(cur Row) error { out = append(out, followed(cur)); return nil }, selectPlace+" ORDER BY name")
		return out, err
	})
}

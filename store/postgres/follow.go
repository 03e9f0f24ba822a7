package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
)

// Follow takes or prolongs the lease of a place in the log. Its sync is not
// awaited: a place that is forgotten has records told twice.
func (s *Store) Follow(ctx context.Context, name, by string, start int64, lease time.Duration) (p audit.Place, err error) {
	err = s.write(ctx, syncNormal, func(t *tx) error {
		if _, err := t.exec(`INSERT INTO follower AS f (name, next, owner, until) VALUES ($1, $2, $3, $4)
			ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
			WHERE f.owner = excluded.owner OR f.until <= $5`, name, max(start, 0), by, t.now().Add(lease), t.now()); err != nil {
			return fmt.Errorf("follow the log: %w", err)
		}
		_, err := t.one(func(cur *cursor) error { p = place(cur); return nil }, selectPlace+" WHERE name = $1", name)
		return err
	})
	return p, err
}

const selectPlace = "SELECT name, next, owner, until, at FROM follower"

func place(cur *cursor) audit.Place {
	return audit.Place{Name: cur.text(), Next: cur.int(), By: cur.text(), Until: cur.time(), At: cur.time()}
}

// Advance moves a place forward for whoever holds its lease.
func (s *Store) Advance(ctx context.Context, name, by string, next int64) (moved bool, err error) {
	err = s.write(ctx, syncNormal, func(t *tx) error {
		n, err := t.exec("UPDATE follower SET next = $1, at = $2 WHERE name = $3 AND owner = $4 AND until > $2 AND next < $1",
			next, t.now(), name, by)
		moved = n == 1
		return err
	})
	return moved, err
}

// Places lists the places in the log by name.
func (s *Store) Places(ctx context.Context) (out []audit.Place, err error) {
	err = s.read(ctx, func(c *conn) error {
		out = nil
		return c.query(func(cur *cursor) error { out = append(out, place(cur)); return nil }, selectPlace+" ORDER BY name")
	})
	return out, err
}

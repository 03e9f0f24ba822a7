package tables

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// FirstSince is the number of the first action that was created at a time or
// later, or one beyond the last. Actions are numbered in the order of their
// times; where several gateways number them, only nearly so.
func FirstSince(c Reader, at time.Time) (int64, error) {
	high, err := number(c, "SELECT coalesce(max(seq), 0) + 1 FROM action")
	for low := int64(0); err == nil && low < high; {
		middle, seq, created := low+(high-low)/2, int64(0), time.Time{}
		if err = c.Query(func(cur Row) error { seq, created = cur.Int(), cur.Time(); return nil },
			"SELECT seq, created_at FROM action WHERE seq >= $1 ORDER BY seq LIMIT 1", middle); err != nil {
			break
		}
		if seq == 0 || !created.Before(at) {
			high = middle
		} else {
			low = seq + 1
		}
	}
	return high, err
}

// Votes returns the votes on a row in the order of their arrival.
func (p People) Votes(ctx context.Context, tenant, id string) ([]action.Vote, error) {
	return many(ctx, p.db, func(c Reader) (out []action.Vote, err error) {
		n, err := number(c, "SELECT count(*) FROM action WHERE tenant = $1 AND id = $2", tenant, id)
		if err == nil && n == 0 {
			err = action.ErrNotFound
		}
		if err != nil {
			return nil, err
		}
		return VotesOf(c, id, p.arrival)
	})
}

package postgres

import (
	"context"
	"time"
)

// A gateway shows that it lives, on the database's own clock. What one that
// is silent left running may be called uncertain before its lease is over.
const (
	signEvery = 5 * time.Second
	silence   = 30 * time.Second
)

const realNow = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000"

// dead holds for rows whose gateway is not this one and is silent; the
// parameters are this process and the silence in nanoseconds.
func dead(process, length string) string {
	return "a.process <> " + process + " AND NOT EXISTS (SELECT 1 FROM process p WHERE p.id = a.process AND p.seen_at > " +
		realNow + " - " + length + ")"
}

// sign shows that this gateway lives.
func (s *Store) sign(c *conn) error {
	_, err := c.exec(`INSERT INTO process (id, started_at, seen_at) VALUES ($1, `+realNow+`, `+realNow+`)
		ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`, s.process)
	return err
}

// live signs until the store closes.
func (s *Store) live() {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.done.Add(1)
	go func() {
		defer s.done.Done()
		ticker := time.NewTicker(signEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if err := s.readOnce(ctx, s.sign); err != nil && ctx.Err() == nil {
				s.log.Warn("the database does not hear from this gateway", "error", err)
			}
			if err := s.readOnce(ctx, s.tidyFloor); err != nil && ctx.Err() == nil {
				s.log.Warn("times that are over cannot be deleted", "error", err)
			}
		}
	}()
}

// unsign takes leave: what this process left is free for others at once.
func (s *Store) unsign() {
	_ = s.readOnce(context.Background(), func(c *conn) error { // it shows soon enough
		_, err := c.exec("DELETE FROM process WHERE id = $1", s.process)
		return err
	})
}

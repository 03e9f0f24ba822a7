package postgres

import (
	"context"
	"errors"
	"fmt"
)

// settle finds out about a commit whose answer was lost or came with a
// warning. nil says that it is committed, and as safe as commits are; an
// error for which again holds says that it is not; ErrUnknown says that nobody
// can tell, or that it is a commit point, which is then never run.
func (t *tx) settle(ctx context.Context, cause error) error {
	s := t.store
	if cause == nil {
		cause = errors.New("the commit did not wait for the standby")
	}
	unknown := fmt.Errorf("%w: %w", ErrUnknown, cause)
	if t.token == "" {
		return unknown
	}
	ctx, cancel := context.WithTimeout(ctx, s.opt.Patience)
	defer cancel()
	for try := 1; ; try++ {
		committed, err := s.lookUp(ctx, t)
		switch {
		case err == nil && !committed:
			s.log.Warn("a commit whose answer was lost did not happen", "record", t.token, "cause", cause)
			return fmt.Errorf("%w: %w", errDropped, cause)
		case err == nil && t.settling:
			s.log.Warn("a commit point whose answer was lost happened; it is not run", "record", t.token, "cause", cause)
			return unknown
		case err == nil:
			s.log.Warn("a commit whose answer was lost happened", "record", t.token, "cause", cause)
			return nil
		case ctx.Err() != nil || hopeless(err):
			s.log.Error("nobody can tell whether a commit happened", "record", t.token, "cause", cause, "error", err)
			return unknown
		}
		pause(ctx, min(try, tries))
	}
}

// errRunning: the server is still busy with the transaction in question.
var errRunning = errors.New("the transaction has not ended")

// lookUp asks on another connection whether a transaction is committed. On
// the same timeline its number says whether it has ended at all; on another,
// the server that ran it is gone, and only what was replicated counts.
func (s *Store) lookUp(ctx context.Context, t *tx) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	p, err := s.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer p.Release()
	here := sessionOf(p.Conn().PgConn())
	c := &conn{ctx: ctx, db: p.Conn()}
	if here.timeline == t.session.timeline {
		status := ""
		if _, err := c.one(func(cur *cursor) error { status = cur.text(); return nil },
			"SELECT coalesce(pg_xact_status($1::bigint::text::xid8), '')", t.xid); err != nil {
			return false, err
		}
		if status == "in progress" {
			return false, errRunning
		}
	}
	n, err := c.number("SELECT count(*) FROM event WHERE id = $1", t.token)
	if err != nil || n == 0 {
		return false, err
	}
	return true, s.barrier(c, here)
}

// barrier commits something of no meaning and waits for it as any commit
// waits: what was committed before it on this server is then as safe.
func (s *Store) barrier(c *conn, here *session) error {
	here.warned.Store(false)
	if _, err := c.exec("UPDATE time_floor SET at = at WHERE one = 1"); err != nil {
		return err
	}
	if here.warned.Load() {
		return errors.New("the database did not wait for the standby")
	}
	return nil
}

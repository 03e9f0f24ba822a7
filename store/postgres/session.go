package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// session is what is known of one connection's server.
type session struct {
	system   int64 // system identifier: which database cluster
	timeline int64 // moves with every promotion of a standby
	warned   atomic.Bool
}

const sessionKey = "verbatim.session"

func sessionOf(c *pgconn.PgConn) *session {
	s, _ := c.CustomData()[sessionKey].(*session)
	return s
}

// warning is the class of warnings. The server sends one, and then success,
// where a commit stopped waiting for its standby.
const warning = "01000"

// noticed marks a connection whose server warned: until that is looked into,
// no commit on it counts as known.
func noticed(c *pgconn.PgConn, n *pgconn.Notice) {
	if s := sessionOf(c); s != nil && n.Code == warning {
		s.warned.Store(true)
	}
}

// greet asks a new connection who it leads to and refuses a server that may
// not decide: a standby, another cluster, or one that does not keep what it
// acknowledges. How commits wait stays as it was found for as long as the
// connection lasts, however the server is set meanwhile.
func (s *Store) greet(ctx context.Context, db *pgx.Conn) error {
	var standby bool
	var fsync, pages, commit string
	var here session
	err := db.QueryRow(ctx, `SELECT pg_is_in_recovery(), current_setting('fsync'), current_setting('full_page_writes'),
		set_config('synchronous_commit', current_setting('synchronous_commit'), false), (SELECT system_identifier FROM pg_control_system()),
		CASE WHEN pg_is_in_recovery() THEN 0
			ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END`).
		Scan(&standby, &fsync, &pages, &commit, &here.system, &here.timeline)
	if err != nil {
		return err
	}
	if standby {
		return ErrStandby
	}
	if err := keeps(fsync, pages, commit); err != nil {
		return err
	}
	if first := s.system.Swap(here.system); first != 0 && first != here.system {
		s.system.Store(first)
		return ErrOther
	}
	if before := s.timeline.Swap(here.timeline); before != 0 && before != here.timeline {
		s.log.Warn("another server of the database has taken over; leases taken before are void",
			"timeline", here.timeline, "before", before)
	}
	db.PgConn().CustomData()[sessionKey] = &here
	return acceptPacked(ctx, db)
}

// keeps: what the server acknowledges must survive a crash.
func keeps(fsync, pages, commit string) error {
	for _, s := range []struct {
		name, is string
		good     []string
	}{
		{"fsync", fsync, []string{"on"}}, {"full_page_writes", pages, []string{"on"}},
		{"synchronous_commit", commit, []string{"on", "remote_apply"}},
	} {
		good := false
		for _, g := range s.good {
			good = good || s.is == g
		}
		if !good {
			return fmt.Errorf("%w: %s is %s, not %s", ErrDurability, s.name, s.is, s.good[0])
		}
	}
	return nil
}

// hopeless: another try on another connection cannot help.
func hopeless(err error) bool {
	return errors.Is(err, ErrDurability) || errors.Is(err, ErrOther) || errors.Is(err, ErrClosed)
}

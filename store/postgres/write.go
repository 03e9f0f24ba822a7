package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// The deadlines, and how often what certainly did not happen is tried again.
const (
	connectTimeout = 5 * time.Second
	prepareTimeout = time.Minute
	verbTimeout    = 15 * time.Second // for the statements of one verb
	commitTimeout  = 10 * time.Second // for the answer to one commit
	tries          = 5
)

// Whether a commit waits for the disk and the standby.
const (
	syncNormal = false // written, its sync not awaited
	syncFull   = true
)

// tx is the open transaction as a verb sees it.
type tx struct {
	*conn
	store    *Store
	session  *session
	time     time.Time // one for the whole transaction; zero until the database has told it
	failed   error     // why it did not
	settling bool      // it passes the commit point of a run
	token    string    // id of the last record written
	leaf     []byte    // that record, without its number
	xid      int64     // of the transaction; zero until the database has told it

	taken      map[string]int64 // the timeline on which the row that was locked last was moved
	unreserved string           // id of a locked row that holds nothing of any limit
}

// write runs fn in a transaction and returns when it is committed or undone.
// Once started it is not interrupted by ctx. fn may run several times; only
// what certainly did not commit is tried again.
func (s *Store) write(ctx context.Context, wait bool, fn func(*tx) error) error {
	start := time.Now()
	for try := 1; ; try++ {
		err := s.attempt(ctx, wait, fn)
		switch {
		case err == nil:
			return nil
		case verbs.Refusal(err):
			return err
		case try == tries || time.Since(start) > s.opt.Patience || ctx.Err() != nil || !again(err):
			return fmt.Errorf("write store: %w", err)
		}
		pause(ctx, try)
	}
}

// change is write for the verbs that move one action. The row comes beside a
// refusal, never beside a failure.
func (s *Store) change(ctx context.Context, wait bool, fn func(*tx) (action.Action, error)) (action.Action, error) {
	var out action.Action
	err := s.write(ctx, wait, func(t *tx) error {
		var err error
		out, err = fn(t)
		return err
	})
	if err != nil && !verbs.Refusal(err) {
		return action.Action{}, err
	}
	return out, err
}

// again reports whether a transaction that failed so certainly did not commit
// and may work the next time.
func again(err error) bool {
	if errors.Is(err, ErrUnknown) || hopeless(err) {
		return false
	}
	switch code(err) {
	case "40001", "40P01": // serialization failure, deadlock
		return true
	}
	return lost(err)
}

// lost reports whether a connection, not a statement, failed.
func lost(err error) bool {
	if hopeless(err) {
		return false
	}
	if c := code(err); c != "" {
		return c[:2] == "08" || c[:2] == "57" || c == "25P03" || c == "53300" // connection, shutdown, idle, too many
	}
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) || errors.Is(err, errDropped) || errors.Is(err, ErrStandby)
}

// pause waits a little longer before each try, so that rivals come apart.
func pause(ctx context.Context, try int) {
	timer := time.NewTimer(time.Duration(1+rand.IntN(10<<try)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// attempt runs one transaction.
func (s *Store) attempt(ctx context.Context, wait bool, fn func(*tx) error) error {
	p, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer p.Release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), verbTimeout)
	defer cancel()
	t := &tx{conn: &conn{ctx: ctx, db: p.Conn()}, store: s, session: sessionOf(p.Conn().PgConn())}
	t.begin(wait)
	err = fn(t)
	if err = errors.Join(t.failed, err); err == nil && t.xid == 0 {
		err = t.run()
	}
	if err != nil {
		return t.undo(p, err)
	}
	return t.commit(ctx, p)
}

// undo gives the transaction up. A connection that cannot even do that is
// closed, which undoes as well.
func (t *tx) undo(p *pgxpool.Conn, err error) error {
	if p.Conn().IsClosed() {
		if code(err) == "" && !verbs.Refusal(err) {
			err = fmt.Errorf("%w: %w", errDropped, err)
		}
		return err
	}
	if p.Conn().PgConn().TxStatus() == noTransaction {
		return err
	}
	if _, undo := t.db.Exec(t.ctx, "ROLLBACK"); undo != nil {
		_ = t.db.Close(t.ctx)
	}
	return err
}

// noTransaction is how the server says that it has none open.
const noTransaction = 'I'

// errDropped marks what did not happen because its connection was lost.
var errDropped = errors.New("the connection was lost")

// begin has the transaction opened, and the time read, ahead of its first
// statements and in their round trip.
func (t *tx) begin(wait bool) {
	t.ahead = append(t.ahead, do("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"))
	if !wait {
		t.ahead = append(t.ahead, do("SET LOCAL synchronous_commit = off"))
	}
	t.ahead = append(t.ahead, ask(func(cur *cursor) error { t.hear(cur); return nil }, beginSQL))
}

// hear reads what beginColumns ask for.
func (t *tx) hear(cur *cursor) {
	clock, floor := cur.int(), cur.int()
	t.xid = cur.int()
	if !cur.bool() {
		t.failed = fmt.Errorf("%w: fsync or full_page_writes is off", ErrDurability)
	}
	t.setTime(clock, floor)
}

// timeAsked is for statements that ask for the time themselves: no other one
// is needed where none has been sent.
func (t *tx) timeAsked() {
	if last := len(t.ahead) - 1; last >= 0 && t.ahead[last].sql == beginSQL {
		t.ahead = t.ahead[:last]
	}
}

// now is the time of the transaction. Asked for before the first statements,
// it costs a round trip of its own; where that fails, so does the verb.
func (t *tx) now() time.Time {
	if t.time.IsZero() && t.failed == nil {
		t.failed = t.run()
		if t.failed == nil && t.time.IsZero() {
			t.failed = errors.New("the database told no time")
		}
	}
	return t.time
}

// last has steps sent with the end of the transaction, or with whatever is
// sent before it. Until then nobody knows that they succeeded.
func (t *tx) last(steps ...step) { t.ahead = append(t.ahead, steps...) }

// commit sends what is left to be sent together with the end of the
// transaction, and finds out where the answer is lost or in doubt.
func (t *tx) commit(ctx context.Context, p *pgxpool.Conn) error {
	before := t.ctx
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	t.ctx = ctx
	tag := ""
	err := t.run(step{sql: "COMMIT", tag: &tag})
	sure := !t.session.warned.Load() && !p.Conn().IsClosed()
	switch {
	case err == nil && tag != "COMMIT":
		return fmt.Errorf("the database answered %s to COMMIT", tag)
	case err == nil && sure:
		return nil
	case sure && refused(err):
		t.ctx = before
		return t.undo(p, err)
	}
	_ = t.db.Close(ctx) // the answer, if it comes, is not for the next user
	p.Release()
	return t.settle(context.WithoutCancel(ctx), err)
}

// refused reports whether the server said that a statement failed, so that it
// did not commit: it skips all that was sent behind a failure.
func refused(err error) bool {
	var of *pgconn.PgError
	return errors.As(err, &of) && of.SeverityUnlocalized == "ERROR"
}

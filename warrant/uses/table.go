package uses

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/warrant"
)

// ErrEmptied says that somebody emptied a table. Nothing runs until it is
// opened again.
var ErrEmptied = errors.New("the memory of warrants does not know when it began")

var tableName = regexp.MustCompile(`^([a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,62}$`)

// Table is a memory in a database that executors share, wherever they run:
// PostgreSQL, SQLite, or another one with ON CONFLICT and $1. A use is one
// statement of its own, committed before OK is said. It is safe for concurrent
// use.
type Table struct {
	db   *sql.DB
	name string
	now  func() time.Time

	mu     sync.Mutex
	tidied time.Time
}

var _ warrant.Seen = (*Table)(nil)

// OpenTable opens the memory in a table, and makes it where there is none;
// everything that was signed before that counts as used. The database must not
// acknowledge a commit that it can lose (for PostgreSQL: synchronous_commit, and
// a synchronous standby where there is a failover). now is the executors'
// clock; nil is time.Now.
func OpenTable(ctx context.Context, db *sql.DB, name string, now func() time.Time) (*Table, error) {
	if db == nil || !tableName.MatchString(name) {
		return nil, errors.New("a memory of warrants without a database, or with a name that is no plain name of a table")
	}
	if now == nil {
		now = time.Now
	}
	t := &Table{db: db, name: name, now: now}
	if err := t.begin(ctx); err != nil {
		return nil, fmt.Errorf("open the memory of warrants: %w", err)
	}
	return t, nil
}

// begin writes down when the memory began, where nobody has. The table is made
// only where that fails: a role that may not make tables can use one. Two who
// make it at once may be told that it is there.
func (t *Table) begin(ctx context.Context) error {
	var err error
	for range 3 {
		// A millisecond later, so that nothing that was signed in this one counts.
		_, err = t.db.ExecContext(ctx, "INSERT INTO "+t.name+" (action, fence, until) VALUES ('', 0, $1) ON CONFLICT (action) DO NOTHING", t.now().UnixMilli()+1)
		if err == nil || ctx.Err() != nil {
			return err
		}
		var made error
		if _, made = t.db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+t.name+" (action text PRIMARY KEY, fence bigint NOT NULL, until bigint NOT NULL)"); made != nil {
			err = errors.Join(err, made)
		}
	}
	return err
}

// Use takes the one use of a warrant. It fails where the database does, and
// with [ErrEmptied].
func (t *Table) Use(ctx context.Context, w warrant.Warrant) (warrant.Verdict, error) {
	t.forget(ctx)
	// A row is written only if the memory began before the warrant was signed,
	// and if no use with this fence or a later one is there.
	done, err := t.db.ExecContext(ctx, "INSERT INTO "+t.name+" AS last (action, fence, until) "+
		"SELECT CAST($1 AS text), CAST($2 AS bigint), CAST($3 AS bigint) FROM "+t.name+" AS began WHERE began.action = '' AND began.until <= CAST($4 AS bigint) "+
		"ON CONFLICT (action) DO UPDATE SET fence = excluded.fence, until = excluded.until WHERE last.fence < excluded.fence",
		w.Action, w.Fence, w.SendBy.Add(keep).UnixMilli(), w.IssuedAt.UnixMilli())
	if err != nil {
		return "", err
	}
	n, err := done.RowsAffected()
	if err != nil {
		return "", err
	}
	if n == 1 {
		return warrant.OK, nil
	}
	return t.why(ctx, w)
}

// why says what kept a use from being written.
func (t *Table) why(ctx context.Context, w warrant.Warrant) (warrant.Verdict, error) {
	var began int64
	err := t.db.QueryRowContext(ctx, "SELECT until FROM "+t.name+" WHERE action = ''").Scan(&began)
	if errors.Is(err, sql.ErrNoRows) {
		return "", ErrEmptied
	}
	if err != nil {
		return "", err
	}
	var fence int64
	err = t.db.QueryRowContext(ctx, "SELECT fence FROM "+t.name+" WHERE action = $1", w.Action).Scan(&fence)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	if err == nil && fence > w.Fence {
		return warrant.OtherAttempt, nil
	}
	return warrant.Replayed, nil
}

// forget removes uses whose warrants have ended, now and then. The memory then
// begins after the last of them: a clock that is set back must not bring them to
// life again. Where it fails, the next time will do.
func (t *Table) forget(ctx context.Context) {
	now := t.now()
	t.mu.Lock()
	due := now.Sub(t.tidied) >= tidy
	if due {
		t.tidied = now
	}
	t.mu.Unlock()
	if !due {
		return
	}
	const kept = int64(keep / time.Millisecond)
	last := fmt.Sprintf("(SELECT max(until) - %d FROM %s WHERE action <> '' AND until < $1)", kept, t.name)
	if _, err := t.db.ExecContext(ctx, "UPDATE "+t.name+" SET until = "+last+" WHERE action = '' AND until < "+last, now.UnixMilli()); err != nil {
		return
	}
	_, _ = t.db.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE until < $1 AND action <> '' AND until - %d <= (SELECT until FROM %s WHERE action = '')", t.name, kept, t.name), now.UnixMilli())
}

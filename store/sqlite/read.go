package sqlite

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/tables"
)

// The most rows that one page of a listing has.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// Now is the time as the store sees it; it never goes back.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if s.closed {
		return time.Time{}, ErrClosed
	}
	return s.present(), ctx.Err()
}

// present is the time, for whoever only looks.
func (s *Store) present() time.Time {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.tick()
}

// Action returns one row of a tenant.
func (s *Store) Action(ctx context.Context, tenant, id string) (a action.Action, err error) {
	err = s.read(ctx, func(c *conn) error {
		a, err = s.loadWhere(c, "WHERE a.tenant = ? AND a.id = ?", tenant, id)
		return err
	})
	return a, err
}

// ByKey returns the row that holds an idempotency key.
func (s *Store) ByKey(ctx context.Context, tenant, principal, key string) (a action.Action, err error) {
	err = s.read(ctx, func(c *conn) error {
		a, err = s.byKey(c, tenant, principal, key)
		return err
	})
	return a, err
}

func (s *Store) byKey(c *conn, tenant, principal, key string) (action.Action, error) {
	return s.loadWhere(c, `JOIN idempotency i ON i.action_id = a.id
		WHERE i.tenant = ? AND i.principal = ? AND i.key = ?`, tenant, principal, key)
}

// Joinable returns the rows that a call without a key may take up; see
// [verbatim.Reader].
func (s *Store) Joinable(ctx context.Context, tenant, principal string, fingerprint canon.Digest) (out []action.Action, err error) {
	ids := s.memory.mayBe(fingerprint, joinable)
	if len(ids) == 0 {
		return nil, ctx.Err()
	}
	err = s.read(ctx, func(c *conn) error {
		for _, id := range ids {
			found, err := s.list(c, `WHERE a.id = ? AND a.tenant = ? AND a.principal = ? AND a.fingerprint = ?
				AND a.state IN ('pending_approval', 'approved', 'claimed', 'executing') AND a.key = ''
				AND (a.caller_gone = 1 OR a.state IN ('approved', 'claimed'))`, id, tenant, principal, fingerprint)
			if out = append(out, found...); err != nil || len(out) == maxLimit {
				return err
			}
		}
		return nil
	})
	return out, err
}

// where collects the conditions of a filter.
type where struct {
	text []string
	args []any
}

func (w *where) add(condition string, args ...any) {
	w.text = append(w.text, condition)
	w.args = append(w.args, args...)
}

func (w *where) equal(column, value string) {
	if value != "" {
		w.add(column+" = ?", value)
	}
}

func (w *where) sql() string {
	if len(w.text) == 0 {
		return ""
	}
	return "WHERE " + strings.Join(w.text, " AND ")
}

func limit(n int) int {
	if n <= 0 {
		return defaultLimit
	}
	return min(n, maxLimit)
}

// few reports that rows in these states are few beside those that have ended.
// They are found by their state then; the plus before a column keeps the
// database from going through all rows of a tenant.
func few(states []action.State) bool {
	return len(states) > 0 && !slices.ContainsFunc(states, action.State.Terminal)
}

// Actions lists rows, newest first.
func (s *Store) Actions(ctx context.Context, f action.Filter) (out []action.Action, err error) {
	err = s.read(ctx, func(c *conn) error {
		out, err = s.filtered(c, f)
		return err
	})
	return out, err
}

func (s *Store) filtered(c *conn, f action.Filter) ([]action.Action, error) {
	var w where
	if err := within(c, &w, f); err != nil {
		return nil, err
	}
	sql, args := actionsSQL(f, w)
	return s.list(c, sql, args...)
}

// within bounds rows by when they were created. Rows are numbered in that
// order, so the bounds are looked for, and not each row looked at.
func within(c *conn, w *where, f action.Filter) error {
	for _, b := range []struct {
		at        time.Time
		condition string
	}{{f.From, "a.seq >= ?"}, {f.Until, "a.seq < ?"}} {
		if b.at.IsZero() {
			continue
		}
		first, err := tables.FirstSince(c, b.at)
		if err != nil {
			return err
		}
		w.add(b.condition, first)
	}
	return nil
}

// actionsSQL selects rows by a filter, beside what bounds their times.
func actionsSQL(f action.Filter, w where) (sql string, args []any) {
	tenant := "a.tenant"
	if few(f.States) || f.Voter != "" {
		tenant = "+" + tenant
	}
	w.equal(tenant, f.Tenant)
	w.equal("a.principal", f.Principal)
	w.equal("a.tool", f.Tool)
	if len(f.States) > 0 {
		args := make([]any, len(f.States))
		for i, state := range f.States {
			args[i] = string(state)
		}
		w.add("a.state IN (?"+strings.Repeat(", ?", len(args)-1)+")", args...)
	}
	if f.Before != "" {
		w.add("a.seq < (SELECT b.seq FROM action b WHERE b.id = ?)", f.Before)
	}
	switch {
	case !few(f.States):
	case slices.Contains(f.States, action.Executing):
		w.add("a." + flying)
	default:
		w.add(indexed)
	}
	const newest = " ORDER BY a.seq DESC LIMIT ?"
	if f.Voter == "" {
		return w.sql() + newest, append(w.args, limit(f.Limit))
	}
	w.add("v.voter = ?", f.Voter) // the votes of one person are few beside all rows
	return "WHERE a.seq IN (SELECT a.seq FROM vote v CROSS JOIN action a ON a.id = v.action_id " + w.sql() + newest + ")" + newest,
		append(w.args, limit(f.Limit), limit(f.Limit))
}

// Person returns an account as far as votes care. One of another tenant is
// ErrNotFound.
func (s *Store) Person(ctx context.Context, tenant, id string) (p action.Person, err error) {
	err = s.read(ctx, func(c *conn) error {
		p, err = person(c, id, s.present())
		if errors.Is(err, action.ErrIneligible) || err == nil && p.Tenant != tenant {
			p, err = action.Person{}, action.ErrNotFound
		}
		return err
	})
	return p, err
}

// Records lists entries of the audit log, newest first.
func (s *Store) Records(ctx context.Context, f audit.Filter) (out []audit.Record, err error) {
	if err := s.settleReads(ctx); err != nil {
		return nil, err
	}
	err = s.read(ctx, func(c *conn) error {
		out, err = c.records(f)
		return err
	})
	return out, err
}

package postgres

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
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
	out, err := s.asks(ctx, question{kind: forTime}, func(c *conn) (out told, err error) {
		out.now, err = s.peekClock(c)
		return out, err
	})
	return out.now, err
}

// peekClock reads the time without raising the floor.
func (s *Store) peekClock(c *conn) (time.Time, error) {
	var clock, floor int64
	_, err := c.one(func(cur *cursor) error { clock, floor = cur.int(), cur.int(); return nil }, clockSQL)
	return s.later(clock, floor), err
}

// Action returns one row of a tenant.
func (s *Store) Action(ctx context.Context, tenant, id string) (a action.Action, err error) {
	err = s.read(ctx, func(c *conn) error {
		a, err = s.loadWhere(c, "WHERE a.tenant = $1 AND a.id = $2", tenant, id)
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
		WHERE i.tenant = $1 AND i.principal = $2 AND i.key = $3`, tenant, principal, key)
}

// inFlight finds rows in flight by tenant, principal and fingerprint. It
// says so, and what it finds is ordered by seq + 0, that only the index made
// for it can be used: those of the tenant's rows and of all rows in their
// order seem as good until the database has counted them, and lead through
// every row.
func inFlight(tenant, principal, fingerprint string) string {
	return "a.tenant IS NOT DISTINCT FROM " + tenant + " AND a.principal = " + principal + " AND a.fingerprint = " + fingerprint +
		" AND a.state IN ('pending_approval', 'approved', 'claimed', 'executing', 'uncertain')"
}

// Joinable returns the rows that a call without a key may take up; see
// [verbatim.Reader].
func (s *Store) Joinable(ctx context.Context, tenant, principal string, fingerprint canon.Digest) ([]action.Action, error) {
	q := question{forJoinable, tenant, principal, fingerprint}
	out, err := s.asks(ctx, q, func(c *conn) (out told, err error) {
		out.rows, err = s.list(c, "WHERE "+joinable("$1", "$2", "$3"), tenant, principal, fingerprint)
		return out, err
	})
	return out.rows, err
}

// joinable finds rows of a tenant, a principal and a fingerprint that a call
// may take up.
func joinable(tenant, principal, fingerprint string) string {
	return inFlight(tenant, principal, fingerprint) + ` AND a.state <> 'uncertain' AND a.key = ''
		AND (a.caller_gone OR a.state IN ('approved', 'claimed')) ORDER BY a.seq + 0 LIMIT ` + strconv.Itoa(maxLimit)
}

// where collects the conditions of a filter.
type where struct {
	text []string
	args []any
}

// arg adds a parameter and returns its place.
func (w *where) arg(value any) string {
	w.args = append(w.args, value)
	return "$" + strconv.Itoa(len(w.args))
}

func (w *where) add(condition string, value any) { w.text = append(w.text, condition+w.arg(value)) }

func (w *where) equal(column, value string) {
	if value != "" {
		w.add(column+" = ", value)
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

// Actions lists rows, newest first.
func (s *Store) Actions(ctx context.Context, f action.Filter) (out []action.Action, err error) {
	var w where
	w.equal("a.tenant", f.Tenant)
	w.equal("a.principal", f.Principal)
	w.equal("a.tool", f.Tool)
	if len(f.States) > 0 {
		states := make([]string, len(f.States))
		for i, state := range f.States {
			states[i] = string(state)
		}
		w.text = append(w.text, "a.state = ANY ("+w.arg(states)+"::text[])")
	}
	if f.Before != "" {
		w.text = append(w.text, "a.seq < (SELECT b.seq FROM action b WHERE b.id = "+w.arg(f.Before)+")")
	}
	err = s.read(ctx, func(c *conn) error {
		w := where{text: slices.Clone(w.text), args: slices.Clone(w.args)}
		if err := within(c, &w, f); err != nil {
			return err
		}
		most := w.arg(limit(f.Limit))
		sql := w.sql()
		if f.Voter != "" { // the votes of one person are few beside all rows
			w.add("v.voter = ", f.Voter)
			sql = "WHERE a.seq IN (SELECT a.seq FROM vote v JOIN action a ON a.tenant = v.tenant AND a.id = v.action_id " + w.sql() + " ORDER BY a.seq DESC LIMIT " + most + ")"
		}
		out, err = s.list(c, sql+" ORDER BY a.seq DESC LIMIT "+most, w.args...)
		return err
	})
	return out, err
}

// clockSlack is how far the order of the numbers of rows may be from the order of
// their times: several gateways number them, and write them a little later.
const clockSlack = time.Minute

// within bounds rows by when they were created. Rows are numbered nearly in
// that order, so the bounds are looked for, and only rows near them looked at.
func within(c *conn, w *where, f action.Filter) error {
	for _, b := range []struct {
		at                time.Time
		slack             time.Duration
		created, numbered string
	}{{f.From, -clockSlack, "a.created_at >= ", "a.seq >= "}, {f.Until, clockSlack, "a.created_at < ", "a.seq < "}} {
		if b.at.IsZero() {
			continue
		}
		first, err := tables.FirstSince(c, b.at.Add(b.slack))
		if err != nil {
			return err
		}
		w.add(b.created, b.at)
		w.add(b.numbered, first)
	}
	return nil
}

// Person returns an account as far as votes care. One of another tenant is
// ErrNotFound.
func (s *Store) Person(ctx context.Context, tenant, id string) (p action.Person, _ error) {
	err := s.read(ctx, func(c *conn) error {
		now, err := s.peekClock(c)
		if err != nil {
			return err
		}
		p, err = person(c, id, now, "")
		if errors.Is(err, action.ErrIneligible) || err == nil && p.Tenant != tenant {
			p, err = action.Person{}, action.ErrNotFound
		}
		return err
	})
	return p, err
}

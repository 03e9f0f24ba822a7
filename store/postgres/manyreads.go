package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// Every call of a gateway asks for the time, for what is stopped and for what
// it repeats. Callers who ask at once are answered in one round trip, by
// questions that are put after the last of them has asked.

// question is what one caller wants to know.
type question struct {
	kind        questionKind
	tenant      string
	principal   string
	fingerprint canon.Digest
}

type questionKind int

const (
	forTime questionKind = iota
	forStops
	forJoinable
)

// told is an answer; one of its fields, by the kind of the question.
type told struct {
	now   time.Time
	stops []action.Stop
	rows  []action.Action
}

type readTurn = turn[question, told]

// asks puts a question with those of others who wait; alone answers it where
// that fails.
func (s *Store) asks(ctx context.Context, q question, alone func(*conn) (told, error)) (out told, err error) {
	out, solo, err := s.reads.ask(ctx, q)
	if !solo {
		return out, err
	}
	err = s.read(ctx, func(c *conn) (err error) {
		out, err = alone(c)
		return err
	})
	return out, err
}

// serveReads puts the questions of many.
func (s *Store) serveReads(turns []*readTurn) {
	byKind := map[questionKind][]*readTurn{}
	for _, t := range turns {
		byKind[t.in.kind] = append(byKind[t.in.kind], t)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(turns[0].ctx), verbTimeout)
	defer cancel()
	err := s.readOnce(ctx, func(c *conn) error {
		var steps []step
		if of := byKind[forTime]; len(of) > 0 {
			steps = append(steps, s.timeFor(of))
		}
		if of := byKind[forStops]; len(of) > 0 {
			steps = append(steps, stopsFor(of))
		}
		if of := byKind[forJoinable]; len(of) > 0 {
			steps = append(steps, s.joinableFor(of))
		}
		return c.run(steps...)
	})
	for _, t := range turns {
		t.solo = err != nil
	}
}

func (s *Store) timeFor(turns []*readTurn) step {
	return ask(func(cur *cursor) error {
		now := s.later(cur.int(), cur.int())
		for _, t := range turns {
			t.out.now = now
		}
		return nil
	}, clockSQL)
}

func stopsFor(turns []*readTurn) step {
	tenants := []string{""}
	for _, t := range turns {
		if !slices.Contains(tenants, t.in.tenant) {
			tenants = append(tenants, t.in.tenant)
		}
	}
	return ask(func(cur *cursor) error {
		stop := scanStop(cur)
		for _, t := range turns {
			if stop.Tenant == "" || stop.Tenant == t.in.tenant {
				t.out.stops = append(t.out.stops, stop)
			}
		}
		return nil
	}, selectStop+"WHERE tenant = ANY ($1::text[]) ORDER BY tenant, agent, tool", tenants)
}

func (s *Store) joinableFor(turns []*readTurn) step {
	likes := sheetOf("text", "text", "bytea")
	for _, t := range turns {
		likes.add(t.in.tenant, t.in.principal, t.in.fingerprint)
	}
	c := &compound{}
	c.text.WriteString("SELECT u.n, q.* FROM " + c.fromUnseen(likes) + " WITH ORDINALITY AS u (tenant, principal, fingerprint, n), LATERAL (SELECT " +
		columns + ", a.seq" + fromAction + "WHERE " + joinable("u.tenant", "u.principal", "u.fingerprint") + ") AS q ORDER BY u.n, q.seq")
	return ask(func(cur *cursor) error {
		t := turns[cur.int()-1]
		a, err := s.scanAction(cur)
		t.out.rows = append(t.out.rows, a)
		return err
	}, c.text.String(), c.args...)
}

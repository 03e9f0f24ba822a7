package postgres

import (
	"context"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

type allowTurn = turn[action.Action, action.Action]

// serveAllowed records reads and handoffs that may go on in one transaction.
// One that is stopped goes alone.
func (s *Store) serveAllowed(turns []*allowTurn) {
	if len(turns) == 1 {
		turns[0].out, turns[0].err = s.allowOne(turns[0].ctx, turns[0].in)
		return
	}
	var done []*allowTurn
	err := s.shared(turns[0].ctx, syncNormal, func(t *tx) (err error) {
		done, err = t.allowMany(turns)
		return err
	})
	settleTurns(turns, done, err)
}

func (s *Store) allowOne(ctx context.Context, a action.Action) (action.Action, error) {
	return s.change(ctx, syncNormal, func(t *tx) (action.Action, error) {
		stopped := int64(0)
		t.timeAsked()
		if err := t.run(do(lockGates), ask(func(cur *cursor) error {
			t.hear(cur)
			stopped = cur.int()
			return nil
		}, "SELECT "+beginColumns+", (SELECT count(*) FROM stop WHERE "+covering+") FROM time_floor", a.Tenant, a.Agent, a.Tool)); err != nil {
			return action.Action{}, err
		}
		if stopped > 0 {
			return a, action.ErrStopped
		}
		a := a
		a.CreatedAt, a.UpdatedAt = t.now(), t.now()
		return a, t.record(verbs.AllowedRecord(a))
	})
}

func (t *tx) allowMany(turns []*allowTurn) ([]*allowTurn, error) {
	stopped := make([]bool, len(turns))
	of := sheetOf("text", "text", "text")
	for _, turn := range turns {
		of.add(turn.in.Tenant, turn.in.Agent, turn.in.Tool)
	}
	c := &compound{}
	c.text.WriteString("SELECT " + beginColumns + `, u.n, (SELECT count(*) FROM stop WHERE tenant IN ('', u.tenant) AND agent IN ('', u.agent)
		AND tool IN ('', u.tool)) FROM time_floor, ` + c.from(of) + " WITH ORDINALITY AS u (tenant, agent, tool, n)")
	t.timeAsked()
	if err := t.run(do(planOnce), do(lockGates), ask(func(cur *cursor) error {
		t.hear(cur)
		i := cur.int() - 1
		stopped[i] = cur.int() > 0
		return nil
	}, c.text.String(), c.args...)); err != nil {
		return nil, err
	}
	var done []*allowTurn
	records := newRecords()
	for i, turn := range turns {
		if stopped[i] {
			continue
		}
		a := turn.in
		a.CreatedAt, a.UpdatedAt = t.now(), t.now()
		r, f, secrets := verbs.AllowedRecord(a)
		if err := records.add(t, r, f, secrets); err != nil {
			continue // its caller will hear of it
		}
		turn.out = a
		done = append(done, turn)
	}
	if len(done) == 0 {
		return nil, errNobody
	}
	t.last(records.write(&compound{}))
	return done, nil
}

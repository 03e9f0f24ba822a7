package storetest

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/action"
)

// modelTake is what a row of the model took from one window.
type modelTake struct {
	limit action.Limit
	start time.Time
	state action.ReservationState
}

// windowKey names a window of the model; all of them have the scope "[]".
type windowKey struct {
	name  string
	start int64
}

func (t modelTake) window() windowKey { return windowKey{t.limit.Name, t.start.UnixNano()} }

// drawLimits chooses what a run would take: often nothing, else something
// from a daily sum, a count of the hour, or both, under limits that move.
func (m *model) drawLimits(r *rapid.T) []action.Limit {
	var out []action.Limit
	if rapid.Bool().Draw(r, "sum") {
		out = append(out, action.Limit{Name: "sum", Window: action.Day, Scope: "[]", Currency: "USD",
			Amount: rapid.SampledFrom([]int64{0, 300, 600}).Draw(r, "amount"), Most: rapid.SampledFrom([]int64{500, 1000, 1000}).Draw(r, "most")})
	}
	if rapid.IntRange(0, 3).Draw(r, "count") == 3 {
		out = append(out, action.Limit{Name: "count", Window: action.Hour, Scope: "[]", Amount: 1, Most: 2})
	}
	return out
}

// takes is what a run takes that begins now, or the refusal of the first
// limit, in the order of their names, that has no room.
func (m *model) takes(limits []action.Limit) ([]modelTake, error) {
	var out []modelTake
	for _, l := range action.SortLimits(limits) {
		start, _, _ := l.Window.Bounds(m.now())
		t := modelTake{limit: l, start: start, state: action.Reserved}
		if b := m.windows()[t.window()]; b.Reserved+b.Posted+l.Amount > l.Most {
			return nil, action.ErrOverLimit
		}
		out = append(out, t)
	}
	return out, nil
}

// windows adds up what the rows took. Most is the limit of the last of them.
func (m *model) windows() map[windowKey]action.Budget {
	out := map[windowKey]action.Budget{}
	for _, t := range m.taken {
		b := out[t.window()]
		b.Most = t.limit.Most
		switch t.state {
		case action.Reserved:
			b.Reserved += t.limit.Amount
		case action.Posted:
			b.Posted += t.limit.Amount
		}
		out[t.window()] = b
	}
	return out
}

// take notes what a row took when it began.
func (m *model) take(row *modelRow, takes []modelTake) {
	for i := range takes {
		row.takes = append(row.takes, &takes[i])
		m.taken = append(m.taken, &takes[i])
	}
}

// settleTakes moves what a row took with its state: room comes back only
// where it is known that nothing happened.
func (row *modelRow) settleTakes(proved bool) {
	to := action.Posted
	switch {
	case row.state == action.Executing || row.state == action.Uncertain:
		return
	case row.state == action.ReconciledFailed || row.state == action.Failed && proved:
		to = action.Void
	}
	for _, t := range row.takes {
		t.state = to
	}
}

// compareLimits reads every window back.
func (m *model) compareLimits(r *rapid.T) {
	if len(m.taken) == 0 && !m.refusedLimit {
		return
	}
	found, err := m.b.store.Budgets(m.b.Context(), action.BudgetFilter{Tenant: m.tenant, Past: true, Limit: 1000})
	m.answer(r, err, nil)
	want := m.windows()
	for _, b := range found {
		w := want[windowKey{b.Name, b.Start.UnixNano()}]
		if b.Most != w.Most || b.Reserved != w.Reserved || b.Posted != w.Posted {
			r.Fatalf("window %s of %s holds %d and %d of %d, model has %d and %d of %d", b.Name, b.Start, b.Reserved, b.Posted, b.Most,
				w.Reserved, w.Posted, w.Most)
		}
	}
	if len(found) != len(want) {
		r.Fatalf("%d windows, model has %d", len(found), len(want))
	}
}

// compareTakes reads back what each row took.
func (m *model) compareTakes(r *rapid.T) {
	for id, row := range m.rows {
		got, err := m.b.store.Reservations(m.b.Context(), m.tenant, id)
		m.answer(r, err, nil)
		slices.SortFunc(got, func(a, b action.Reservation) int { return strings.Compare(a.Name, b.Name) })
		if len(got) != len(row.takes) {
			r.Fatalf("%s took from %d windows, model has %d", id, len(got), len(row.takes))
		}
		for i, t := range row.takes {
			if got[i].Name != t.limit.Name || got[i].Amount != t.limit.Amount || !got[i].Start.Equal(t.start) || got[i].State != t.state {
				r.Fatalf("%s took %+v, model has %+v", id, got[i], *t)
			}
		}
	}
}

// stop freezes something of the tenant, for the one who sits at the machine
// or for a person.
func (m *model) stop(r *rapid.T) {
	s := action.Stop{Tenant: m.tenant, Agent: rapid.SampledFrom([]string{"", agent, "other"}).Draw(r, "agent"),
		Tool: rapid.SampledFrom([]string{"", tool, "bank.other"}).Draw(r, "tool"), By: m.drawPerson(r), Reason: "drill"}
	running, err := m.b.store.Stop(m.b.Context(), s)
	if !m.answer(r, err, nil) {
		return
	}
	want := 0
	for _, row := range m.rows {
		if row.state == action.Executing && s.Covers(m.tenant, agent, tool) {
			want++
		}
	}
	if running != want {
		r.Fatalf("%d runs under way, model has %d", running, want)
	}
	m.stops = slices.DeleteFunc(m.stops, sameStop(s))
	m.stops = append(m.stops, s)
}

func (m *model) drawPerson(r *rapid.T) string {
	by := rapid.SampledFrom([]string{action.ByHost, opal, ann}).Draw(r, "by")
	if by != action.ByHost {
		by = m.id(by)
	}
	return by
}

func sameStop(s action.Stop) func(action.Stop) bool {
	return func(x action.Stop) bool { return x.Agent == s.Agent && x.Tool == s.Tool }
}

// lift lifts a stop that stands, or one that was lifted before; only an
// operator or whoever set it may.
func (m *model) lift(r *rapid.T) {
	if len(m.stops) == 0 {
		r.Skip("nothing is stopped")
	}
	s := rapid.SampledFrom(m.stops).Draw(r, "stop")
	set := s.By
	if s.By = m.drawPerson(r); rapid.IntRange(0, 7).Draw(r, "no such stop") == 7 {
		s.Agent = "nobody"
	}
	var want error
	switch {
	case s.Agent == "nobody":
		want = action.ErrNotFound
	case s.By != m.id(opal) && (s.By != set || s.By == action.ByHost):
		want = action.ErrIneligible
	}
	if m.answer(r, m.b.store.Resume(m.b.Context(), s), want) {
		m.stops = slices.DeleteFunc(m.stops, sameStop(s))
	}
}

// stopped is the refusal of everything that would start now.
func (m *model) stopped() error {
	for _, s := range m.stops {
		if s.Covers(m.tenant, agent, tool) {
			return action.ErrStopped
		}
	}
	return nil
}

// read asks to record an allowed read, which leaves no row.
func (m *model) read(r *rapid.T) {
	a := m.b.callWith("read")
	a.ID, a.Tenant, a.Mutation, a.Decision.PolicyVersion = m.id(a.ID), m.tenant, false, m.version
	_, err := m.b.store.Decide(m.b.Context(), a)
	m.answer(r, err, m.stopped())
}

// compareStops reads back what is stopped.
func (m *model) compareStops(r *rapid.T) {
	got, err := m.b.store.Stops(m.b.Context(), m.tenant)
	m.answer(r, err, nil)
	want := slices.Clone(m.stops)
	slices.SortFunc(want, func(a, b action.Stop) int {
		return cmp.Or(strings.Compare(a.Agent, b.Agent), strings.Compare(a.Tool, b.Tool))
	})
	same := func(a, b action.Stop) bool { return a.Agent == b.Agent && a.Tool == b.Tool && a.By == b.By }
	if !slices.EqualFunc(got, want, same) {
		r.Fatalf("stopped is %+v, model has %+v", got, want)
	}
}

// startable is the refusal of a start that nothing else refuses: a stop, or
// else a limit.
func (m *model) startable(limits []action.Limit) ([]modelTake, error) {
	if err := m.stopped(); err != nil {
		return nil, err
	}
	takes, err := m.takes(limits)
	m.refusedLimit = m.refusedLimit || errors.Is(err, action.ErrOverLimit)
	return takes, err
}

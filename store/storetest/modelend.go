package storetest

import (
	"time"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/action"
)

// forward does what usually comes next, so that sequences get far.
func (m *model) forward(r *rapid.T) {
	row := m.pick(r)
	a := row.action
	a.Fence = row.fence
	switch row.state {
	case action.PendingApproval:
		voter := ann
		if _, voted := row.votes[ann]; voted {
			voter = bob
		}
		m.castVote(r, row, voter, true)
	case action.Approved:
		m.claimRow(r, row)
	case action.Claimed:
		m.beginRow(r, row, a)
	case action.Executing:
		m.finishRow(r, row, a, rapid.SampledFrom([]action.State{action.Succeeded, action.Failed, action.Uncertain, action.Uncertain}).Draw(r, "end"))
	default:
		r.Skip("nothing comes next")
	}
}

// resend sends an uncertain attempt again, perhaps alone on its target. The
// tenant's rows share two targets, one for each mark.
func (m *model) resend(r *rapid.T) {
	row, a := m.held(r)
	alone := rapid.Bool().Draw(r, "alone")
	want := m.resendable(row, a)
	for id, other := range m.rows {
		replaced := other.action.Supersedes == row.action.ID && other.state != action.Denied &&
			other.state != action.Expired && other.state != action.Revoked
		overtaken := alone && id != row.action.ID && other.attempt > 0 && other.mark == row.mark && !other.begun.Before(row.begun)
		if want == nil && (replaced || overtaken) {
			want = action.ErrOvertaken
		}
	}
	_, err := m.b.store.Begin(m.b.Context(), action.Start{Action: a, Lease: lease,
		Resend: &action.Resend{Retention: time.Hour, Alone: alone}})
	if m.answer(r, err, want) {
		row.state, row.fence, row.lease, row.again = action.Executing, row.fence+1, m.now().Add(lease), true
	}
}

func (m *model) resendable(row *modelRow, a action.Action) error {
	switch {
	case row.state != action.Uncertain:
		return action.ErrState
	case a.Fence != row.fence:
		return action.ErrFence
	case !row.deadline.IsZero() && !m.now().Before(row.deadline):
		return action.ErrLate
	case m.now().Add(lease).After(row.begun.Add(time.Hour)):
		return action.ErrLate
	case a.Decision.PolicyVersion != m.version:
		return action.ErrStale
	}
	return m.stopped()
}

func (m *model) void(r *rapid.T) {
	row, a := m.held(r)
	var want error
	switch {
	case row.state != action.Claimed:
		want = action.ErrState
	case a.Fence != row.fence:
		want = action.ErrFence
	}
	a.Decision = action.Decision{Effect: "deny", Code: "approval_stale", Reason: "moved"}
	_, err := m.b.store.Decide(m.b.Context(), a)
	if m.answer(r, err, want) {
		row.state = action.Denied
	}
}

func (m *model) dismiss(r *rapid.T) {
	row := m.pick(r)
	var want error
	if row.state != action.PendingApproval && row.state != action.Approved {
		want = action.ErrState
	}
	_, err := m.b.store.Dismiss(m.b.Context(), row.action.ID, principal)
	if m.answer(r, err, want) {
		row.state = action.Revoked
	}
}

func (m *model) revoke(r *rapid.T) {
	row := m.pick(r)
	by := rapid.SampledFrom([]string{opal, pat}).Draw(r, "by")
	var want error
	switch {
	case by == pat:
		want = action.ErrIneligible
	case row.state != action.PendingApproval && row.state != action.Approved && row.state != action.Claimed:
		want = action.ErrState
	}
	_, err := m.b.store.Revoke(m.b.Context(), row.action.ID, m.id(by), "no")
	if m.answer(r, err, want) {
		row.state = action.Revoked
	}
}

func (m *model) finish(r *rapid.T) {
	row, a := m.held(r)
	state := rapid.SampledFrom([]action.State{action.Succeeded, action.Failed, action.Uncertain}).Draw(r, "state")
	m.finishRow(r, row, a, state)
}

func (m *model) finishRow(r *rapid.T, row *modelRow, a action.Action, state action.State) {
	late := row.state == action.Uncertain && state == action.Succeeded
	var want error
	switch {
	case a.Fence != row.fence:
		want = action.ErrFence
	case row.state != action.Executing && !late:
		want = action.ErrState
	}
	end := ending(a, state)
	if state == action.Failed && rapid.Bool().Draw(r, "reported") {
		end.Result.Evidence = action.EvidenceReported
	}
	_, err := m.b.store.Finish(m.b.Context(), end)
	if !m.answer(r, err, want) {
		return
	}
	if row.state = state; late {
		row.state = action.ReconciledSucceeded
	}
	row.settleTakes(end.Result.Evidence == action.EvidenceProved)
}

func (m *model) reconcile(r *rapid.T) {
	row := m.pick(r)
	state := rapid.SampledFrom([]action.State{action.ReconciledSucceeded, action.ReconciledFailed}).Draw(r, "state")
	var want error
	if row.state != action.Uncertain {
		want = action.ErrState
	}
	_, err := m.b.store.Reconcile(m.b.Context(), action.Reconciliation{ID: row.action.ID, State: state, By: m.id(opal), Evidence: "seen"})
	if m.answer(r, err, want) {
		row.state = state
		row.settleTakes(false)
	}
}

func (m *model) expire(r *rapid.T) {
	moved, err := m.b.store.Expire(m.b.Context(), rapid.Bool().Draw(r, "orphans"))
	m.answer(r, err, nil)
	got := map[string]bool{}
	for _, a := range moved {
		got[a.ID] = a.Tenant == m.tenant
	}
	for id, row := range m.rows {
		was := row.state
		switch row.state {
		case action.PendingApproval, action.Approved, action.Claimed:
			if !m.now().Before(row.deadline) {
				row.state = action.Expired
			}
		case action.Executing:
			if !m.now().Before(row.lease) {
				row.state = action.Uncertain
			}
		}
		if got[id] != (was != row.state) {
			r.Fatalf("%s: moved %t, model says %s to %s", id, got[id], was, row.state)
		}
	}
}

func (m *model) policy(r *rapid.T) {
	m.setRules(rapid.SampledFrom([]string{"a", "b"}).Draw(r, "rules"))
}

func (m *model) wait(r *rapid.T) {
	m.b.clock.add(rapid.SampledFrom([]time.Duration{time.Millisecond, lease, 10 * time.Minute, time.Hour}).Draw(r, "time"))
}

// compare reads everything back after each verb that was allowed, and after
// every fourth that was not.
func (m *model) compare(r *rapid.T) {
	if m.still++; m.moving || m.still == 4 {
		m.compareAll(r)
		m.moving, m.still = false, 0
	}
}

func (m *model) compareAll(r *rapid.T) {
	rows, err := m.b.store.Actions(m.b.Context(), action.Filter{Tenant: m.tenant, Limit: 1000})
	m.answer(r, err, nil)
	if len(rows) != len(m.order) {
		r.Fatalf("%d rows, model has %d", len(rows), len(m.order))
	}
	for _, a := range rows {
		row := m.rows[a.ID]
		if a.State != row.state || a.Fence != row.fence || a.Attempt != row.attempt || !a.Deadline.Equal(row.deadline) {
			r.Fatalf("%s is %s fence %d attempt %d until %s, model has %s fence %d attempt %d until %s", a.ID,
				a.State, a.Fence, a.Attempt, a.Deadline, row.state, row.fence, row.attempt, row.deadline)
		}
		leased := a.State == action.Claimed || a.State == action.Executing
		if leased && !a.LeaseUntil.Equal(row.lease) || !leased && !a.LeaseUntil.IsZero() {
			r.Fatalf("%s is leased until %s, model has %s", a.ID, a.LeaseUntil, row.lease)
		}
		m.moved.note(row)
	}
	for key, id := range m.keys {
		a, err := m.b.store.ByKey(m.b.Context(), m.tenant, principal, key)
		if err != nil || a.ID != id {
			r.Fatalf("key %s is held by %s, model has %s: %v", key, a.ID, id, err)
		}
	}
	m.compareLimits(r)
	m.compareStops(r)
}

package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// model is the store as the contract words it, without a database: what a
// verb must answer, and what the rows then are.
type model struct {
	b       *bench
	tenant  string
	rules   string // digest input of the current policy
	version string
	order   []string // ids in the order of their making
	rows    map[string]*modelRow
	keys    map[string]string // key to id
	moved   moves
	refused refusals
	taken   []*modelTake // from limits, in the order of their making
	stops   []action.Stop

	refusedLimit bool // some start was refused for a limit
	moving       bool // something was allowed since the last comparison
	still        int  // steps since then
}

// modelRow is what the model knows of one row.
type modelRow struct {
	action   action.Action // as the store last answered; carries arguments and terms
	state    action.State
	fence    int64
	attempt  int
	deadline time.Time
	lease    time.Time
	mark     string
	votes    map[string]bool // voter to approve
	names    []string        // ids that it supersedes, through any number of rows
	begun    time.Time       // when its attempt began
	again    bool            // it was sent again
	takes    []*modelTake    // from limits, in the order of their names
	seen     trace           // how the last comparison found it
}

// testModel runs random sequences of verbs on a store and on the model. The
// sequences share a store; each has a tenant of its own. Stores with a planted
// bug must differ from the model.
func testModel(t *testing.T, open Open) {
	t.Parallel()
	t.Run("agrees", func(t *testing.T) {
		t.Parallel()
		b := prepare(t, open)
		n, moved, refused := 0, moves{}, refusals{}
		defer func() {
			moved.report(t, n)
			refused.report(t, n)
		}()
		rapid.Check(t, func(r *rapid.T) {
			n++
			m := newModel(b, fmt.Sprintf("tenant%d", n))
			m.moved, m.refused = moved, refused
			m.sequence(r)
		})
	})
	for name, spoil := range map[string]func(verbatim.Store) verbatim.Store{
		"an ending minds no fence":      func(s verbatim.Store) verbatim.Store { return &looseFence{s} },
		"a limit is now and then unset": func(s verbatim.Store) verbatim.Store { return &forgetful{Store: s} },
		"a limit is stretched":          func(s verbatim.Store) verbatim.Store { return &generous{s} },
		"a stop of an agent stops none": func(s verbatim.Store) verbatim.Store { return &deafStop{s} },
	} {
		t.Run("a store where "+name+" differs", func(t *testing.T) {
			t.Parallel()
			b := prepare(t, open)
			b.store = spoil(b.store)
			for n := range enoughSequences {
				m := newModel(b, fmt.Sprintf("tenant%d", n))
				m.moved, m.refused = moves{}, refusals{}
				if differs(n, m.sequence) {
					return
				}
			}
			t.Fatal("the planted bug was not seen")
		})
	}
}

// differs runs one sequence and reports whether it failed.
func differs(seed int, sequence func(*rapid.T)) (failed bool) {
	rapid.Custom(func(r *rapid.T) int {
		defer func() {
			if p := recover(); p != nil {
				if failed = r.Failed(); !failed {
					panic(p)
				}
			}
		}()
		sequence(r)
		return 0
	}).Example(seed)
	return failed
}

// sequence takes random steps and compares after each.
func (m *model) sequence(r *rapid.T) {
	r.Repeat(map[string]func(*rapid.T){
		"suspend": m.suspend, "begin new": m.beginNew, "deny": m.deny, "vote": m.vote, "claim": m.claim, "take over": m.takeOver,
		"begin claimed": m.beginClaimed, "void": m.void, "dismiss": m.dismiss, "revoke": m.revoke, "finish": m.finish,
		"reconcile": m.reconcile, "resend": m.resend, "expire": m.expire, "policy": m.policy, "wait": m.wait,
		"stop": m.stop, "lift": m.lift, "lift again": m.lift, "read": m.read,
		"forward": m.forward, "on": m.forward, "and on": m.forward, "": m.compare,
	})
	m.compareAll(r)
	m.compareTakes(r)
}

func newModel(b *bench, tenant string) *model {
	m := &model{b: b, tenant: tenant, rows: map[string]*modelRow{}, keys: map[string]string{}}
	for _, a := range people() {
		if a.Tenant != other {
			a.ID, a.Tenant, a.Active, a.CreatedAt = m.id(a.ID), tenant, true, b.clock.read()
			a.Key = a.ID
			b.must(b.book.AddAccount(b.Context(), a))
		}
	}
	m.setRules("a")
	return m
}

func (m *model) id(name string) string { return m.tenant + "_" + name }

func (m *model) now() time.Time { return m.b.clock.read() }

func (m *model) setRules(rules string) {
	version, err := m.b.store.SetPolicy(m.b.Context(), m.tenant, tool, canon.Sum([]byte(rules)))
	m.b.must(err)
	if (m.rules == rules) != (m.version == version) {
		m.b.Fatalf("rules %q after %q: version %s after %s", rules, m.rules, version, m.version)
	}
	m.rules, m.version = rules, version
}

// pick chooses a row, or none where there is none yet.
func (m *model) pick(r *rapid.T) *modelRow {
	if len(m.order) == 0 {
		r.Skip("no row yet")
	}
	return m.rows[rapid.SampledFrom(m.order).Draw(r, "row")]
}

// fresh is a new call with one of few fingerprints and keys.
func (m *model) fresh(r *rapid.T) (action.Action, *modelRow) {
	mark := rapid.SampledFrom([]string{"x", "y"}).Draw(r, "mark")
	a := m.b.callWith(mark)
	a.ID, a.Tenant, a.Decision.PolicyVersion = m.id(a.ID), m.tenant, m.version
	a.Key = rapid.SampledFrom([]string{"", "", "k", "l"}).Draw(r, "key")
	row := &modelRow{mark: mark, votes: map[string]bool{}}
	if len(m.order) > 0 && rapid.Bool().Draw(r, "supersedes") {
		a.Supersedes = rapid.SampledFrom(m.order).Draw(r, "superseded")
		row.names = append([]string{a.Supersedes}, m.rows[a.Supersedes].names...)
	}
	return a, row
}

// blocked says what stands in the way of a new row.
func (m *model) blocked(a action.Action, row *modelRow, state action.State) error {
	if holder := m.rows[m.keys[a.Key]]; a.Key != "" && holder != nil {
		clean := holder.state == action.Failed || holder.state == action.ReconciledFailed
		if !clean || holder.mark != row.mark {
			return action.ErrKeyTaken
		}
	}
	for id, other := range m.rows {
		if state != action.Denied && other.unclear(row, id) {
			return action.ErrUncertain
		}
	}
	return nil
}

// unclear: nobody knows the end of a row that stands in the way of another.
func (row *modelRow) unclear(next *modelRow, id string) bool {
	return row.mark == next.mark && (row.state == action.Uncertain && !contains(next.names, id) ||
		row.state == action.Executing && row.again)
}

func contains(list []string, s string) bool {
	for _, item := range list {
		if item == s {
			return true
		}
	}
	return false
}

// answer compares the error of a verb with the model's; it reports whether
// the verb was allowed.
func (m *model) answer(r *rapid.T, got, want error) bool {
	if !errors.Is(got, want) {
		r.Fatalf("store says %v, model says %v", got, want)
	}
	m.refused.note(want)
	m.moving = m.moving || want == nil
	return want == nil
}

func (m *model) add(a action.Action, row *modelRow) {
	row.action = a
	m.order, m.rows[a.ID] = append(m.order, a.ID), row
	if a.Key != "" {
		m.keys[a.Key] = a.ID
	}
}

func (m *model) suspend(r *rapid.T) {
	a, row := m.fresh(r)
	a = m.b.asking(a, []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}})
	want := m.blocked(a, row, action.PendingApproval)
	got, err := m.b.store.Suspend(m.b.Context(), a)
	if m.answer(r, err, want) {
		row.state, row.deadline = action.PendingApproval, a.Terms.PendingUntil
		m.add(got, row)
	}
}

func (m *model) beginNew(r *rapid.T) {
	a, row := m.fresh(r)
	limits := m.drawLimits(r)
	want := m.blocked(a, row, action.Executing)
	var takes []modelTake
	if want == nil {
		takes, want = m.startable(limits)
	}
	got, err := m.b.store.Begin(m.b.Context(), action.Start{Action: a, Lease: lease, Limits: limits})
	if m.answer(r, err, want) {
		row.state, row.fence, row.attempt, row.lease, row.begun = action.Executing, 1, 1, m.now().Add(lease), m.now()
		m.take(row, takes)
		m.add(got, row)
	}
}

func (m *model) deny(r *rapid.T) {
	a, row := m.fresh(r)
	want := m.blocked(a, row, action.Denied)
	got, err := m.b.store.Decide(m.b.Context(), denied(a))
	if m.answer(r, err, want) {
		row.state = action.Denied
		m.add(got, row)
	}
}

func (m *model) vote(r *rapid.T) {
	row := m.pick(r)
	voter := rapid.SampledFrom([]string{ann, bob, pat, fay}).Draw(r, "voter")
	m.castVote(r, row, voter, rapid.Bool().Draw(r, "approve"))
}

func (m *model) castVote(r *rapid.T, row *modelRow, voter string, approve bool) {
	_, voted := row.votes[voter]
	var want error
	switch {
	case row.state != action.PendingApproval:
		want = action.ErrState
	case !m.now().Before(row.deadline):
		want = action.ErrLate
	case voter == pat || voter == fay:
		want = action.ErrIneligible
	case voted:
		want = action.ErrVoted
	}
	v := vote(row.action, m.id(voter), approve)
	v.LoginAt = m.now()
	_, err := m.b.store.Vote(m.b.Context(), v)
	if !m.answer(r, err, want) {
		return
	}
	row.votes[voter] = approve
	switch {
	case !approve:
		row.state = action.Denied
	case len(row.votes) == 2:
		row.state, row.deadline = action.Approved, m.now().Add(row.action.Terms.TTL)
	}
}

func (m *model) claim(r *rapid.T) { m.claimRow(r, m.pick(r)) }

// takeOver claims what somebody else has claimed and left.
func (m *model) takeOver(r *rapid.T) {
	row := m.pick(r)
	if row.state != action.Claimed {
		r.Skip("nothing to take over")
	}
	m.b.clock.add(lease)
	m.claimRow(r, row)
}

func (m *model) claimRow(r *rapid.T, row *modelRow) {
	var want error
	switch {
	case row.state != action.Approved && (row.state != action.Claimed || m.now().Before(row.lease)):
		want = action.ErrState
	case !m.now().Before(row.deadline):
		want = action.ErrLate
	}
	_, err := m.b.store.Claim(m.b.Context(), row.action.ID, lease)
	if m.answer(r, err, want) {
		row.state, row.fence, row.lease = action.Claimed, row.fence+1, m.now().Add(lease)
	}
}

// held is a row as somebody holds it who may have an old fence.
func (m *model) held(r *rapid.T) (*modelRow, action.Action) {
	row := m.pick(r)
	a := row.action
	a.Fence = max(1, row.fence-int64(rapid.IntRange(0, 1).Draw(r, "behind")))
	return row, a
}

func (m *model) beginClaimed(r *rapid.T) {
	row, a := m.held(r)
	m.beginRow(r, row, a)
}

func (m *model) beginRow(r *rapid.T, row *modelRow, a action.Action) {
	limits := m.drawLimits(r)
	want := m.beginRefused(row, a)
	var takes []modelTake
	if want == nil {
		takes, want = m.takes(limits)
		m.refusedLimit = m.refusedLimit || want != nil
	}
	_, err := m.b.store.Begin(m.b.Context(), action.Start{Action: a, Lease: lease, Limits: limits})
	if m.answer(r, err, want) {
		row.state, row.attempt, row.lease, row.begun = action.Executing, row.attempt+1, m.now().Add(lease), m.now()
		m.take(row, takes)
	}
}

// beginRefused is what refuses the commit point of a row, limits aside.
func (m *model) beginRefused(row *modelRow, a action.Action) error {
	switch {
	case row.state != action.Claimed && row.state != action.Executing:
		return action.ErrState
	case a.Fence != row.fence:
		return action.ErrFence
	case row.state == action.Executing:
		return action.ErrState
	case !m.now().Before(row.deadline):
		return action.ErrLate
	case a.Decision.PolicyVersion != m.version:
		return action.ErrStale
	case m.stopped() != nil:
		return action.ErrStopped
	}
	for id, other := range m.rows {
		if other.unclear(row, id) {
			return action.ErrUncertain
		}
	}
	return nil
}

package storetest

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
)

// Two more accounts of the model of standing grants: one human has both.
const (
	dana    = "acc_dana"
	danaToo = "acc_dana_too"
)

// fewSequences are run unless -rapid.checks says how many; fewest in the short
// form.
const (
	fewSequences = 15
	fewest       = 4
)

// standingModel is what standing grants are by contract, without a database.
type standingModel struct {
	b       *bench
	tenant  string
	version string // of the policy
	rules   int
	gone    map[string]bool // accounts that are disabled
	rows    []*likeRow
	grants  []*likeGrant
}

// likeRow is a payment that waits for one human, or for two.
type likeRow struct {
	row    action.Action
	amount int64
	two    bool
	by     *likeGrant // that approved it; nil if none has
}

// likeGrant is a grant with what it has been used for.
type likeGrant struct {
	g       action.StandingGrant
	two     bool
	most    int64 // of each payment
	signers []string
	uses    int
	spent   int64
	revoker string
}

// testStandingModel runs random sequences of what people and agents do with
// standing grants on a store and on the model. A verb that the model allows
// must succeed; one that it does not must fail, with one of the model's
// reasons. Stores with a planted bug must differ.
func testStandingModel(t *testing.T, open Open) {
	t.Parallel()
	t.Run("agrees", func(t *testing.T) {
		t.Parallel()
		b, n, failed, done := prepare(t, open), 0, false, map[string]int{}
		most, enough := flag.Lookup("rapid.checks"), fewSequences
		if testing.Short() {
			enough = fewest
		}
		rapid.Check(t, func(r *rapid.T) {
			if n++; n > enough && !failed && most.Value.String() == most.DefValue {
				return
			}
			defer func() { failed = failed || r.Failed() }()
			newStandingModel(b, fmt.Sprintf("grants%d", n)).sequence(r, done)
		})
		for _, step := range []string{"grant", "sign", "cover", "start", "withdraw", "revoke"} {
			if done[step] == 0 && n >= fewSequences && !testing.Short() {
				t.Errorf("no sequence got through %q: %v", step, done)
			}
		}
	})
	for name, spoil := range map[string]func(verbatim.Store) verbatim.Store{
		"a revocation is kept in mind only": func(s verbatim.Store) verbatim.Store { return &deafRevocation{s} },
		"somebody may sign twice":           func(s verbatim.Store) verbatim.Store { return &twiceSigned{s} },
		"a grant covers once more":          func(s verbatim.Store) verbatim.Store { return &onceMore{s} },
	} {
		t.Run("a store where "+name+" differs", func(t *testing.T) {
			t.Parallel()
			b := prepare(t, open)
			b.store = spoil(b.store)
			for n := range enoughSequences {
				if differs(n, func(r *rapid.T) { newStandingModel(b, fmt.Sprintf("grants%d", n)).sequence(r, map[string]int{}) }) {
					return
				}
			}
			t.Fatal("the planted bug was not seen")
		})
	}
}

func newStandingModel(b *bench, tenant string) *standingModel {
	m := &standingModel{b: b, tenant: tenant, gone: map[string]bool{}}
	humans := []auth.Account{{ID: dana, Principal: "human:dana", Groups: []string{"admin"}}, {ID: danaToo, Principal: "human:dana", Groups: []string{"admin"}}}
	for _, a := range append(people(), humans...) {
		if a.ID != zoe {
			a.ID, a.Tenant, a.Active, a.CreatedAt = m.id(a.ID), tenant, true, b.clock.read()
			a.Key, a.Name = a.ID, a.ID
			b.must(b.book.AddAccount(b.Context(), a))
		}
	}
	m.newRules()
	return m
}

func (m *standingModel) id(name string) string { return m.tenant + "_" + name }

func (m *standingModel) now() time.Time { return m.b.clock.read() }

func (m *standingModel) newRules() {
	m.rules++
	version, err := m.b.store.SetPolicy(m.b.Context(), m.tenant, tool, canon.Sum(fmt.Appendf(nil, "rules %d", m.rules)))
	m.b.must(err)
	m.version = version
}

func (m *standingModel) sequence(r *rapid.T, done map[string]int) {
	step := func(name string, do func(*rapid.T) bool) func(*rapid.T) {
		return func(r *rapid.T) {
			if do(r) {
				done[name]++
			}
		}
	}
	r.Repeat(map[string]func(*rapid.T){
		"propose": m.propose, "propose again": m.propose, "grant": step("grant", m.grant), "sign": step("sign", m.sign),
		"cover": step("cover", m.cover), "cover again": step("cover", m.cover), "start": step("start", m.start),
		"forward": m.forward(done), "on": m.forward(done), "and on": m.forward(done),
		"withdraw": step("withdraw", m.withdraw), "revoke": step("revoke", m.revoke), "change": m.change, "wait": m.wait, "": m.compare,
	})
	m.compareRecords(r)
}

// answer fails unless a verb succeeds where there is no reason against it, and
// else fails with one of them. It reports whether it succeeded.
func (m *standingModel) answer(r *rapid.T, what string, got error, reasons []error) bool {
	if got == nil && len(reasons) == 0 {
		return true
	}
	if got == nil || !slices.ContainsFunc(reasons, func(why error) bool { return errors.Is(got, why) }) {
		r.Fatalf("%s: the store says %v, the model one of %v", what, got, reasons)
	}
	return false
}

// because collects why a verb must fail.
func because(pairs ...any) (reasons []error) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i].(bool) {
			reasons = append(reasons, pairs[i+1].(error))
		}
	}
	return reasons
}

func (m *standingModel) propose(r *rapid.T) {
	row := &likeRow{amount: int64(rapid.IntRange(0, 3).Draw(r, "amount")), two: rapid.IntRange(0, 2).Draw(r, "two") == 0}
	row.row = m.b.paying(int(row.amount), func(a *action.Action) {
		a.ID, a.Tenant, a.Decision.PolicyVersion = m.id(a.ID), m.tenant, m.version
		a.Terms.Nonce = "nonce " + a.ID
		if row.two {
			a.Terms.Requirements = []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}}
		}
	})
	m.rows = append(m.rows, row)
}

func (m *standingModel) pickRow(r *rapid.T) *likeRow {
	if len(m.rows) == 0 {
		r.Skip("no row yet")
	}
	return rapid.SampledFrom(m.rows).Draw(r, "row")
}

func (m *standingModel) pickGrant(r *rapid.T) *likeGrant {
	if len(m.grants) == 0 {
		r.Skip("no grant yet")
	}
	return rapid.SampledFrom(m.grants).Draw(r, "grant")
}

func (m *standingModel) pickPerson(r *rapid.T) string {
	return rapid.SampledFrom([]string{ann, bob, dana, danaToo, ann, bob, pat, fay, opal}).Draw(r, "person")
}

// maySign: an admin who is still there, and not on their own agent's calls.
func (m *standingModel) maySign(who string) bool {
	return !m.gone[who] && who != pat && who != fay && who != opal
}

// human is who has an account.
func human(account string) string {
	if account == danaToo {
		return dana
	}
	return account
}

// signed: as many humans as are needed have signed, and are still there.
func (m *standingModel) signed(g *likeGrant) bool {
	humans := map[string]bool{}
	for _, who := range g.signers {
		if m.maySign(who) {
			humans[human(who)] = true
		}
	}
	return len(humans) >= map[bool]int{false: 1, true: 2}[g.two]
}

func (m *standingModel) grant(r *rapid.T) bool { return m.grantFrom(r, m.pickRow(r), m.pickPerson(r)) }

func (m *standingModel) grantFrom(r *rapid.T, row *likeRow, who string) bool {
	made := &likeGrant{two: row.two, most: int64(rapid.IntRange(1, 3).Draw(r, "most")), signers: []string{who}}
	total := rapid.SampledFrom([]int64{-1, 2, 4}).Draw(r, "total")
	life := time.Duration(rapid.SampledFrom([]int{5, 30, 90}).Draw(r, "minutes")) * time.Minute
	made.g = m.b.like(row.row, func(g *action.StandingGrant) {
		g.MaxUses, g.ExpiresAt = rapid.IntRange(1, 3).Draw(r, "uses"), g.RequestedAt.Add(life)
		g.Scope.Members[0].Value, g.Scope.Total = fmt.Sprint(made.most), total
		if total < 0 {
			g.Scope.Sum, g.Scope.Total = "", 0
		}
	})
	_, err := m.b.store.Grant(m.b.Context(), made.g, m.signature(made, who))
	if !m.answer(r, "grant by "+who, err, because(row.row.State == action.Revoked || row.row.State == action.Denied, action.ErrState, row.amount > made.most, action.ErrStanding,
		row.row.Decision.PolicyVersion != m.version, action.ErrStale, !m.maySign(who), action.ErrIneligible)) {
		return false
	}
	m.grants = append(m.grants, made)
	return true
}

func (m *standingModel) signature(g *likeGrant, who string) action.Vote {
	v := signature(g.g, m.id(who))
	v.LoginAt = m.now()
	return v
}

func (m *standingModel) sign(r *rapid.T) bool { return m.signBy(r, m.pickGrant(r), m.pickPerson(r)) }

func (m *standingModel) signBy(r *rapid.T, g *likeGrant, who string) bool {
	_, err := m.b.store.SignGrant(m.b.Context(), m.signature(g, who))
	if !m.answer(r, "sign by "+who, err, because(g.revoker != "", action.ErrState, !m.now().Before(g.g.ExpiresAt), action.ErrLate,
		!m.maySign(who), action.ErrIneligible, slices.Contains(g.signers, who), action.ErrVoted)) {
		return false
	}
	g.signers = append(g.signers, who)
	return true
}

// spendable: a grant that is in force has room for a payment beside what is
// already taken.
func (m *standingModel) spendable(g *likeGrant, amount int64, uses int, spent int64) bool {
	return g.revoker == "" && m.now().Before(g.g.ExpiresAt) && uses < g.g.MaxUses && (g.g.Scope.Sum == "" || spent+amount <= g.g.Scope.Total)
}

// held is what a grant has been used for, and what it has approved will be.
func (m *standingModel) held(g *likeGrant) (uses int, spent int64) {
	uses, spent = g.uses, g.spent
	for _, row := range m.rows {
		if row.by == g && row.row.State == action.Approved {
			uses++
			if g.g.Scope.Sum != "" {
				spent += row.amount
			}
		}
	}
	return uses, spent
}

func (m *standingModel) cover(r *rapid.T) bool { return m.coverBy(r, m.pickRow(r), m.pickGrant(r)) }

// covers: a grant is for a payment, and has room for it.
func (m *standingModel) covers(g *likeGrant, row *likeRow) bool {
	uses, spent := m.held(g)
	like := row.two == g.two && row.amount <= g.most && row.row.Decision.PolicyVersion == g.g.PolicyVersion
	return like && m.signed(g) && m.spendable(g, row.amount, uses, spent)
}

func (m *standingModel) coverBy(r *rapid.T, row *likeRow, g *likeGrant) bool {
	out, err := m.b.store.Cover(m.b.Context(), row.row.ID, g.g.ID)
	if !m.answer(r, "cover", err, because(row.row.State != action.PendingApproval, action.ErrState, !m.now().Before(row.row.Deadline), action.ErrLate,
		!m.covers(g, row), action.ErrStanding)) {
		return false
	}
	until := m.now().Add(row.row.Terms.TTL)
	for _, end := range []time.Time{row.row.Terms.ExpiresAt, g.g.ExpiresAt} {
		if end.Before(until) {
			until = end
		}
	}
	if out.State != action.Approved || !out.Deadline.Equal(until) {
		r.Fatalf("covered, it is %s until %s; want until %s", out.State, out.Deadline, until)
	}
	row.row, row.by = out, g
	return true
}

func (m *standingModel) start(r *rapid.T) bool { return m.startRow(r, m.pickRow(r)) }

// startRow has a covered row claimed and begun, or ended where it may not begin.
func (m *standingModel) startRow(r *rapid.T, row *likeRow) bool {
	claimed, err := m.b.store.Claim(m.b.Context(), row.row.ID, lease)
	if !m.answer(r, "claim", err, because(row.row.State != action.Approved, action.ErrState, !m.now().Before(row.row.Deadline), action.ErrLate)) {
		return false
	}
	g := row.by
	out, err := m.b.store.Begin(m.b.Context(), action.Start{Action: claimed, Lease: lease})
	if m.answer(r, "begin", err, because(row.row.Decision.PolicyVersion != m.version, action.ErrStale,
		!m.signed(g) || !m.spendable(g, row.amount, g.uses, g.spent), action.ErrIneligible)) {
		row.row, g.uses = out, g.uses+1
		if g.g.Scope.Sum != "" {
			g.spent += row.amount
		}
		return true
	}
	claimed.Decision = action.Decision{Effect: "deny", Code: "approval_stale", Reason: "moved"}
	row.row, err = m.b.store.Decide(m.b.Context(), claimed)
	m.answer(r, "void", err, nil)
	return false
}

func (m *standingModel) withdraw(r *rapid.T) bool {
	row := m.pickRow(r)
	out, err := m.b.store.Revoke(m.b.Context(), row.row.ID, m.id(opal), "no")
	if !m.answer(r, "withdraw", err, because(row.row.State != action.PendingApproval && row.row.State != action.Approved, action.ErrState)) {
		return false
	}
	row.row = out
	return true
}

func (m *standingModel) revoke(r *rapid.T) bool {
	g, who := m.pickGrant(r), m.pickPerson(r)
	if rapid.Bool().Draw(r, "leave") {
		r.Skip("most grants live on")
	}
	_, err := m.b.store.RevokeGrant(m.b.Context(), m.tenant, g.g.ID, m.id(who))
	if !m.answer(r, "revoke by "+who, err, because(m.gone[who] || who == fay, action.ErrIneligible, g.revoker != "", action.ErrState)) {
		return false
	}
	g.revoker = m.id(who)
	return true
}

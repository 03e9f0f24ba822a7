package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// The bounds of a standing grant.
const (
	MaxStandingLife    = 24 * time.Hour
	MaxStandingUses    = 1000
	MaxStandingMembers = 200
)

// StandingDigest is what the votes for a standing grant sign in the place of
// an approval digest: SHA-256 of [StandingStatement].
func StandingDigest(g action.StandingGrant) canon.Digest {
	return canon.Sum(StandingStatement(g))
}

// StandingStatement is the RFC 8785 form of all that a standing grant binds.
// Its member kind keeps it from ever being the form of an approval.
func StandingStatement(g action.StandingGrant) []byte {
	return object(
		"v", canon.IntValue(version),
		"kind", str("standing_grant"),
		"tenant", str(g.Tenant),
		"principal", str(g.Principal),
		"agentName", str(g.Agent),
		"owner", str(g.Owner),
		"task", str(g.Task),
		"grant", grant(action.Action{GrantID: g.GrantID, GrantDigest: g.GrantDigest}),
		"toolName", str(g.Tool),
		"toolDefinitionDigest", digest(g.Definition),
		"policyVersion", str(g.PolicyVersion),
		"source", str(g.Source),
		"scope", scopeValue(g.Scope),
		"maxUses", canon.IntValue(int64(g.MaxUses)),
		"requirements", requirements(g.Requirements),
		"stepUp", canon.BoolValue(g.StepUp),
		"requestedAt", moment(g.RequestedAt),
		"expiresAt", moment(g.ExpiresAt),
		"nonce", str(g.Nonce),
	).Canonical()
}

// ScopeText is the RFC 8785 form of a scope.
func ScopeText(s action.Scope) string { return string(scopeValue(s).Canonical()) }

func scopeValue(s action.Scope) canon.Value {
	members := make([]canon.Value, len(s.Members))
	for i, m := range s.Members {
		members[i] = object("pointer", str(m.Pointer), "rule", str(m.Rule), "value", str(m.Value))
	}
	on := canon.NullValue()
	if !s.AnyTarget {
		on = targets(s.Targets)
	}
	sum := canon.NullValue()
	if s.Sum != "" {
		sum = object("pointer", str(s.Sum), "total", canon.IntValue(s.Total))
	}
	return object("members", canon.ArrayValue(members...), "targets", on, "sum", sum)
}

func requirements(rs []action.Requirement) canon.Value {
	out := make([]canon.Value, len(rs))
	for i, r := range rs {
		groups := make([]canon.Value, len(r.AnyOf))
		for j, g := range r.AnyOf {
			groups[j] = object("name", str(g.Name), "votes", canon.IntValue(int64(g.Votes)))
		}
		out[i] = canon.ArrayValue(groups...)
	}
	return canon.ArrayValue(out...)
}

// CheckStanding checks that a grant is bounded and that its digest is of what
// it says. It fails with action.ErrStanding.
func CheckStanding(g action.StandingGrant) error {
	life := g.ExpiresAt.Sub(g.RequestedAt)
	why := ""
	switch {
	case g.Tenant == "" || g.Principal == "" || g.Tool == "" || g.Nonce == "" || g.PolicyVersion == "" || len(g.Requirements) == 0:
		why = "it does not say for whom and for what"
	case life <= 0 || life > MaxStandingLife:
		why = "it must end within 24 hours"
	case g.MaxUses < 1 || g.MaxUses > MaxStandingUses:
		why = "it must name how many calls it covers, at most 1000"
	case len(g.Scope.Members) > MaxStandingMembers:
		why = "the arguments have too many members"
	case g.Scope.AnyTarget && len(g.Scope.Targets) > 0:
		why = "targets are either named or not"
	case g.Digest != StandingDigest(g) || g.ID != StandingID(g.Digest):
		why = "its digest is of something else"
	default:
		why = faultOfScope(g.Scope)
	}
	if why != "" {
		return fmt.Errorf("%w: %s", action.ErrStanding, why)
	}
	return nil
}

func faultOfScope(s action.Scope) string {
	for i, m := range s.Members {
		if i > 0 && s.Members[i-1].Pointer >= m.Pointer {
			return "a member has two rules, or they are out of order"
		}
		v, err := canon.Decode([]byte(m.Value), canon.Options{Exact: true})
		_, whole := v.Int64()
		switch {
		case m.Rule == action.RuleAny && m.Value == "":
		case err != nil || string(v.Canonical()) != m.Value:
			return "a member is compared with no value"
		case m.Rule == action.RuleEqual, m.Rule == action.RuleMost && v.Kind() == canon.Number && whole:
		default:
			return "a member has a rule that there is not"
		}
	}
	return faultOfSum(s)
}

// faultOfSum: what is added up is an integer member with a bound of its own.
func faultOfSum(s action.Scope) string {
	if s.Sum == "" {
		if s.Total != 0 {
			return "a total of no member"
		}
		return ""
	}
	i := slices.IndexFunc(s.Members, func(m action.MemberRule) bool { return m.Pointer == s.Sum })
	switch {
	case i < 0 || s.Members[i].Rule == action.RuleAny:
		return "what is added up needs a bound for each call"
	case s.Total < 0:
		return "the total is below zero"
	}
	v, err := canon.Decode([]byte(s.Members[i].Value), canon.Options{Exact: true})
	if n, whole := v.Int64(); err != nil || v.Kind() != canon.Number || !whole || n < 0 {
		return "what is added up is no amount"
	}
	return ""
}

// FitsSource checks a grant against the action that it was made from: it must
// cover that, and so be about the same principal, agent, tool and policy. It
// fails with action.ErrStanding.
func FitsSource(g action.StandingGrant, a action.Action) error {
	if err := CheckStanding(g); err != nil {
		return err
	}
	_, member := Uncovered(g, a)
	switch {
	case a.ID != g.Source:
		member = "source"
	case a.HighImpact:
		return fmt.Errorf("%w: a high-impact call takes an approval of its own each time", action.ErrStanding)
	case member == "" && g.Scope.Sum != "":
		member = openCurrency(g.Scope, a.Payload.Args)
	}
	if member != "" {
		return fmt.Errorf("%w: it does not fit the call that it is made from: %s", action.ErrStanding, member)
	}
	return nil
}

// openCurrency names a member that may be another currency in the next call:
// amounts of two currencies are not added up.
func openCurrency(s action.Scope, args string) string {
	leaves, _ := Leaves(args)
	for _, l := range leaves {
		text := l.Value.Text()
		code := l.Value.Kind() == canon.String && len(text) == 3 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
		if code && slices.ContainsFunc(s.Members, func(m action.MemberRule) bool { return m.Pointer == l.Pointer && m.Rule != action.RuleEqual }) {
			return l.Pointer
		}
	}
	return ""
}

// Ballot is a standing grant as its voters see it: a row that waits for the
// votes that the source's policy asked for.
func Ballot(g action.StandingGrant) action.Action {
	return action.Action{
		ID: g.ID, Kind: action.KindCall, Tenant: g.Tenant, Principal: g.Principal, Agent: g.Agent, Owner: g.Owner, Task: g.Task,
		Tool: g.Tool, Definition: g.Definition, State: action.PendingApproval, Deadline: g.ExpiresAt,
		Decision: action.Decision{PolicyVersion: g.PolicyVersion},
		Terms: &action.Terms{Requirements: g.Requirements, StepUp: g.StepUp, Nonce: g.Nonce, RequestedAt: g.RequestedAt,
			PendingUntil: g.ExpiresAt, ExpiresAt: g.ExpiresAt, Digest: g.Digest},
	}
}

// Uncovered names the member in which a call is not what a standing grant
// covers, "" where it is covered; amount is what it takes of the total. It
// asks nothing that time changes: see [Spendable].
func Uncovered(g action.StandingGrant, a action.Action) (amount int64, member string) {
	switch {
	case a.HighImpact:
		return 0, "highImpact"
	case a.Terms == nil || a.Kind != action.KindCall:
		return 0, "requirements"
	case !slices.EqualFunc(g.Requirements, a.Terms.Requirements, func(x, y action.Requirement) bool { return slices.Equal(x.AnyOf, y.AnyOf) }),
		a.Terms.StepUp && !g.StepUp:
		return 0, "requirements"
	case g.Owner != a.Owner:
		return 0, "owner"
	}
	held := Ballot(g)
	held.GrantID, held.GrantDigest, held.Hash = g.GrantID, g.GrantDigest, a.Hash
	if member := Stale(held, a); member != "" {
		return 0, member
	}
	if !g.Scope.AnyTarget && canon.Sum(targets(g.Scope.Targets).Canonical()) != canon.Sum(targets(a.Targets).Canonical()) {
		return 0, "targets"
	}
	return within(g.Scope, a.Payload.Args)
}

// within compares arguments with the rules, member by member.
func within(s action.Scope, args string) (amount int64, member string) {
	leaves, ok := Leaves(args)
	if !ok {
		return 0, "arguments"
	}
	found := map[string]canon.Value{}
	for _, l := range leaves {
		found[l.Pointer] = l.Value
	}
	for _, m := range s.Members {
		v, there := found[m.Pointer]
		delete(found, m.Pointer)
		if !allows(m, v, there) {
			return 0, m.Pointer
		}
		if m.Pointer == s.Sum {
			if amount, there = v.Int64(); !there || amount < 0 {
				return 0, m.Pointer
			}
		}
	}
	for _, l := range leaves { // in order, so that the answer is the same each time
		if _, open := found[l.Pointer]; open {
			return 0, l.Pointer
		}
	}
	return amount, ""
}

func allows(m action.MemberRule, v canon.Value, there bool) bool {
	switch {
	case m.Rule == action.RuleAny:
		return true
	case !there:
		return false
	case m.Rule == action.RuleEqual:
		return string(v.Canonical()) == m.Value
	case m.Rule != action.RuleMost || v.Kind() != canon.Number:
		return false
	}
	bound, err := canon.Decode([]byte(m.Value), canon.Options{Exact: true})
	most, ok := bound.Int64()
	n, whole := v.Int64()
	return err == nil && ok && whole && n >= 0 && n <= most
}

// Leaf is one member of arguments that a scope has a rule for.
type Leaf struct {
	Pointer string
	Value   canon.Value
}

// Leaves lists the members of canonical arguments in the order of their
// pointers: objects are gone into, arrays are not.
func Leaves(args string) ([]Leaf, bool) {
	v, err := canon.Decode([]byte(args), canon.Options{Exact: true})
	if err != nil || v.Kind() != canon.Object {
		return nil, false
	}
	var out []Leaf
	gather(&out, "", v)
	slices.SortFunc(out, func(a, b Leaf) int { return strings.Compare(a.Pointer, b.Pointer) })
	return out, true
}

func gather(out *[]Leaf, at string, v canon.Value) {
	if v.Kind() != canon.Object || v.Len() == 0 && at != "" {
		*out = append(*out, Leaf{at, v})
		return
	}
	for _, m := range v.Members() {
		gather(out, canon.JoinPointer(at, m.Name), m.Value)
	}
}

// MayRevokeStanding says who may revoke a grant: whoever may sign it, operators,
// and the person whose agent it is for. Less authority needs no second person.
// It fails with action.ErrNotFound for another tenant, or action.ErrIneligible.
func MayRevokeStanding(g action.StandingGrant, who action.Person) error {
	row := Ballot(g)
	switch {
	case who.Tenant != g.Tenant:
		return action.ErrNotFound
	case !who.Active:
		return action.ErrIneligible
	case who.In(action.GroupOperator), isProposer(ProposerOf(row), who):
		return nil
	}
	return Eligible(*row.Terms, ProposerOf(row), who)
}

// Spendable reports whether a grant still covers one more call that takes an
// amount: in force, not revoked, not used up.
func Spendable(g action.StandingGrant, amount int64, now time.Time) bool {
	return g.RevokedAt.IsZero() && now.Before(g.ExpiresAt) && !now.Before(g.RequestedAt.Add(-loginSkew)) && g.Uses < g.MaxUses &&
		(g.Scope.Sum == "" || amount <= g.Scope.Total-g.Spent)
}

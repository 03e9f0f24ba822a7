package approval_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

var standingStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// paid is a call that waits, and like is a grant for calls like it: this
// payee and currency, at most 500, any memo, 900 in all.
func paid() action.Action {
	return action.Action{ID: "act_1", Kind: action.KindCall, Tenant: "acme", Principal: "user:pat", Agent: "helper", Owner: "user:pat", Task: "t1",
		GrantID: "del", GrantDigest: canon.Sum([]byte("d")), Tool: "bank.pay", Definition: canon.Sum([]byte("def")), State: action.PendingApproval,
		Targets:  []snapshot.Target{{Type: "vendor", ID: "V1"}},
		Decision: action.Decision{PolicyVersion: "p.1"},
		Terms:    &action.Terms{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}},
		Payload:  action.Payload{Args: `{"amount":300,"currency":"USD","memo":"x","to":{"id":"V1"}}`}}
}

func like(change ...func(*action.StandingGrant)) action.StandingGrant {
	a := paid()
	g := action.StandingGrant{ID: "sta_1", Tenant: a.Tenant, Principal: a.Principal, Agent: a.Agent, Owner: a.Owner, Task: a.Task, GrantID: a.GrantID,
		GrantDigest: a.GrantDigest, Tool: a.Tool, Definition: a.Definition, PolicyVersion: a.Decision.PolicyVersion, Source: a.ID, MaxUses: 3,
		Requirements: a.Terms.Requirements, Nonce: "n", RequestedAt: standingStart, ExpiresAt: standingStart.Add(time.Hour),
		Scope: action.Scope{Targets: a.Targets, Sum: "/amount", Total: 900, Members: []action.MemberRule{
			{Pointer: "/amount", Rule: action.RuleMost, Value: "500"}, {Pointer: "/currency", Rule: action.RuleEqual, Value: `"USD"`},
			{Pointer: "/memo", Rule: action.RuleAny}, {Pointer: "/to/id", Rule: action.RuleEqual, Value: `"V1"`}}}}
	for _, c := range change {
		c(&g)
	}
	g.Digest = approval.StandingDigest(g)
	g.ID = approval.StandingID(g.Digest)
	return g
}

func args(text string) func(*action.Action) {
	return func(a *action.Action) { a.Payload.Args = text }
}

func TestAStandingGrantCoversOnlyCallsLikeItsSource(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*action.Action)
		member string
	}{
		{"the source itself", func(*action.Action) {}, ""},
		{"a smaller amount and another memo", args(`{"amount":1,"currency":"USD","memo":"y","to":{"id":"V1"}}`), ""},
		{"the bound itself, and a free member left out", args(`{"amount":500,"currency":"USD","to":{"id":"V1"}}`), ""},
		{"one more than the bound", args(`{"amount":501,"currency":"USD","memo":"x","to":{"id":"V1"}}`), "/amount"},
		{"an amount below zero", args(`{"amount":-1,"currency":"USD","memo":"x","to":{"id":"V1"}}`), "/amount"},
		{"a broken amount", args(`{"amount":1.5,"currency":"USD","memo":"x","to":{"id":"V1"}}`), "/amount"},
		{"an amount in words", args(`{"amount":"300","currency":"USD","memo":"x","to":{"id":"V1"}}`), "/amount"},
		{"no amount", args(`{"currency":"USD","memo":"x","to":{"id":"V1"}}`), "/amount"},
		{"another currency", args(`{"amount":300,"currency":"JPY","memo":"x","to":{"id":"V1"}}`), "/currency"},
		{"another payee", args(`{"amount":300,"currency":"USD","memo":"x","to":{"id":"V2"}}`), "/to/id"},
		{"a member that the source did not have", args(`{"amount":300,"cc":"V9","currency":"USD","memo":"x","to":{"id":"V1"}}`), "/cc"},
		{"a member below one with a rule", args(`{"amount":300,"currency":"USD","memo":{"deep":1},"to":{"id":"V1"}}`), "/memo/deep"},
		{"arguments that are none", args(`[]`), "arguments"},
		{"high impact", func(a *action.Action) { a.HighImpact = true }, "highImpact"},
		{"a handoff", func(a *action.Action) { a.Kind = action.KindHandoff }, "requirements"},
		{"no approval asked for", func(a *action.Action) { a.Terms = nil }, "requirements"},
		{"more people asked for", func(a *action.Action) {
			a.Terms = &action.Terms{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}}}
		}, "requirements"},
		{"a step-up asked for", func(a *action.Action) { terms := *a.Terms; terms.StepUp = true; a.Terms = &terms }, "requirements"},
		{"another target", func(a *action.Action) { a.Targets = []snapshot.Target{{Type: "vendor", ID: "V2"}} }, "targets"},
		{"another tenant", func(a *action.Action) { a.Tenant = "rival" }, "tenant"},
		{"another principal", func(a *action.Action) { a.Principal = "user:ann" }, "principal"},
		{"another agent", func(a *action.Action) { a.Agent = "other" }, "agentName"},
		{"another owner", func(a *action.Action) { a.Owner = "user:bob" }, "owner"},
		{"another task", func(a *action.Action) { a.Task = "t2" }, "task"},
		{"another tool", func(a *action.Action) { a.Tool = "bank.wire" }, "toolName"},
		{"another definition of the tool", func(a *action.Action) { a.Definition = canon.Sum([]byte("new")) }, "toolDefinitionDigest"},
		{"another policy version", func(a *action.Action) { a.Decision.PolicyVersion = "p.2" }, "policyVersion"},
		{"other delegated authority", func(a *action.Action) { a.GrantID = "del2" }, "grant"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := paid()
			test.change(&a)
			if _, member := approval.Uncovered(like(), a); member != test.member {
				t.Errorf("uncovered %q, want %q", member, test.member)
			}
		})
	}
}

func TestAStandingGrantIsBoundedAndFitsItsSource(t *testing.T) {
	t.Parallel()
	rule := func(i int, m action.MemberRule) func(*action.StandingGrant) {
		return func(g *action.StandingGrant) { g.Scope.Members[i] = m }
	}
	for _, test := range []struct {
		name   string
		change func(*action.StandingGrant)
		why    string
	}{
		{"as it is", func(*action.StandingGrant) {}, ""},
		{"a whole day", func(g *action.StandingGrant) { g.ExpiresAt = g.RequestedAt.Add(24 * time.Hour) }, ""},
		{"longer than a day", func(g *action.StandingGrant) { g.ExpiresAt = g.RequestedAt.Add(24*time.Hour + time.Millisecond) }, "24 hours"},
		{"no time at all", func(g *action.StandingGrant) { g.ExpiresAt = g.RequestedAt }, "24 hours"},
		{"one use", func(g *action.StandingGrant) { g.MaxUses = 1 }, ""},
		{"as many uses as there can be", func(g *action.StandingGrant) { g.MaxUses = 1000 }, ""},
		{"no number of uses", func(g *action.StandingGrant) { g.MaxUses = 0 }, "how many"},
		{"too many uses", func(g *action.StandingGrant) { g.MaxUses = 1001 }, "how many"},
		{"nobody must sign", func(g *action.StandingGrant) { g.Requirements = nil }, "for whom"},
		{"no policy", func(g *action.StandingGrant) { g.PolicyVersion = "" }, "for whom"},
		{"two rules for one member", func(g *action.StandingGrant) { g.Scope.Members[1].Pointer = "/amount" }, "two rules"},
		{"an unknown rule", rule(2, action.MemberRule{Pointer: "/memo", Rule: "like", Value: `"x"`}), "a rule that there is not"},
		{"a bound that is no number", rule(0, action.MemberRule{Pointer: "/amount", Rule: action.RuleMost, Value: `"500"`}), "a rule that there is not"},
		{"a value in another spelling", rule(1, action.MemberRule{Pointer: "/currency", Rule: action.RuleEqual, Value: ` "USD"`}), "no value"},
		{"a total of a free member", rule(0, action.MemberRule{Pointer: "/amount", Rule: action.RuleAny}), "a bound for each call"},
		{"a total of a text", func(g *action.StandingGrant) { g.Scope.Sum = "/currency" }, "no amount"},
		{"a total of nothing", func(g *action.StandingGrant) { g.Scope.Sum = "" }, "a total of no member"},
		{"a total over any currency", rule(1, action.MemberRule{Pointer: "/currency", Rule: action.RuleAny}), "/currency"},
		{"not even its source", rule(0, action.MemberRule{Pointer: "/amount", Rule: action.RuleMost, Value: "299"}), "/amount"},
		{"another source", func(g *action.StandingGrant) { g.Source = "act_2" }, "source"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := approval.FitsSource(like(test.change), paid())
			if test.why == "" && err != nil || test.why != "" && (!errors.Is(err, action.ErrStanding) || !strings.Contains(err.Error(), test.why)) {
				t.Errorf("error %v, want %q", err, test.why)
			}
		})
	}
	high := paid()
	high.HighImpact = true
	if err := approval.FitsSource(like(), high); !errors.Is(err, action.ErrStanding) || !strings.Contains(err.Error(), "high-impact") {
		t.Errorf("a high-impact source: %v", err)
	}
	forged := like()
	forged.MaxUses++
	if err := approval.CheckStanding(forged); !errors.Is(err, action.ErrStanding) {
		t.Errorf("one use more than was signed: %v", err)
	}
}

// What a grant does not say could be anything: it is none, though its digest is
// that of what it says.
func TestAStandingGrantSaysForWhomAndForWhat(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*action.StandingGrant){
		"tenant":       func(g *action.StandingGrant) { g.Tenant = "" },
		"principal":    func(g *action.StandingGrant) { g.Principal = "" },
		"tool":         func(g *action.StandingGrant) { g.Tool = "" },
		"nonce":        func(g *action.StandingGrant) { g.Nonce = "" },
		"policy":       func(g *action.StandingGrant) { g.PolicyVersion = "" },
		"requirements": func(g *action.StandingGrant) { g.Requirements = nil },
	} {
		if err := approval.CheckStanding(like(change)); !errors.Is(err, action.ErrStanding) || !strings.Contains(err.Error(), "for whom") {
			t.Errorf("without its %s: %v", name, err)
		}
	}
	if err := approval.CheckStanding(like()); err != nil {
		t.Error(err)
	}
}

func TestEveryPartOfAStandingGrantIsSigned(t *testing.T) {
	t.Parallel()
	base := like()
	for name, change := range map[string]func(*action.StandingGrant){
		"tenant": func(g *action.StandingGrant) { g.Tenant = "x" }, "principal": func(g *action.StandingGrant) { g.Principal = "x" },
		"agent": func(g *action.StandingGrant) { g.Agent = "x" }, "owner": func(g *action.StandingGrant) { g.Owner = "x" },
		"task": func(g *action.StandingGrant) { g.Task = "x" }, "grant": func(g *action.StandingGrant) { g.GrantID = "x" },
		"grant digest": func(g *action.StandingGrant) { g.GrantDigest = canon.Sum(nil) }, "tool": func(g *action.StandingGrant) { g.Tool = "x" },
		"definition": func(g *action.StandingGrant) { g.Definition = canon.Sum(nil) }, "policy": func(g *action.StandingGrant) { g.PolicyVersion = "x" },
		"source": func(g *action.StandingGrant) { g.Source = "x" }, "uses": func(g *action.StandingGrant) { g.MaxUses++ },
		"requirements": func(g *action.StandingGrant) { g.Requirements = nil }, "step-up": func(g *action.StandingGrant) { g.StepUp = true },
		"nonce": func(g *action.StandingGrant) { g.Nonce = "x" }, "start": func(g *action.StandingGrant) { g.RequestedAt = standingStart.Add(1e6) },
		"end":         func(g *action.StandingGrant) { g.ExpiresAt = g.ExpiresAt.Add(1e6) },
		"any target":  func(g *action.StandingGrant) { g.Scope.AnyTarget, g.Scope.Targets = true, nil },
		"targets":     func(g *action.StandingGrant) { g.Scope.Targets = nil },
		"member rule": func(g *action.StandingGrant) { g.Scope.Members[0].Rule = action.RuleEqual },
		"member":      func(g *action.StandingGrant) { g.Scope.Members[0].Value = "501" },
		"total":       func(g *action.StandingGrant) { g.Scope.Total++ }, "no total": func(g *action.StandingGrant) { g.Scope.Sum = "" },
	} {
		if like(change).Digest == base.Digest {
			t.Errorf("%s can be changed under the signatures", name)
		}
	}
	for _, same := range []func(*action.StandingGrant){
		func(g *action.StandingGrant) { g.Uses = 2 }, func(g *action.StandingGrant) { g.Spent = 5 }, func(g *action.StandingGrant) { g.RevokedAt = standingStart },
	} {
		if like(same).Digest != base.Digest {
			t.Error("what changes with use is in the digest")
		}
	}
	a := paid()
	a.Terms.Nonce = base.Nonce
	if approval.Digest(a) == base.Digest {
		t.Error("a vote for a grant would be one for an action")
	}
}

func TestAStatementIsReadBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*action.StandingGrant){
		func(*action.StandingGrant) {}, func(g *action.StandingGrant) { g.GrantID, g.GrantDigest = "", canon.Digest{} },
		func(g *action.StandingGrant) { g.Scope.AnyTarget, g.Scope.Targets = true, nil },
		func(g *action.StandingGrant) { g.Scope.Sum, g.Scope.Total, g.StepUp = "", 0, true },
	} {
		g := like(change)
		got, err := approval.ParseStanding(approval.StandingStatement(g))
		if diff := cmp.Diff(g, got); err != nil || diff != "" {
			t.Errorf("%v (-written +read):\n%s", err, diff)
		}
	}
	text := string(approval.StandingStatement(like()))
	for _, other := range []string{"", "{}", "null", " " + text, strings.Replace(text, `"v":1`, `"v":2`, 1), strings.Replace(text, "standing_grant", "grant", 1),
		strings.Replace(text, `"maxUses":3`, `"maxUses":"3"`, 1), strings.Replace(text, "{", `{"a":1,`, 1)} {
		if _, err := approval.ParseStanding([]byte(other)); !errors.Is(err, approval.ErrStatement) {
			t.Errorf("%.60s: %v", other, err)
		}
	}
}

func FuzzParseStanding(f *testing.F) {
	f.Add(string(approval.StandingStatement(like())))
	f.Add(`{"kind":"standing_grant","scope":{"members":[1,{"pointer":2}],"targets":3,"sum":[]},"requirements":[[1],{}],"grant":7}`)
	f.Fuzz(func(t *testing.T, text string) {
		g, err := approval.ParseStanding([]byte(text))
		if err == nil && string(approval.StandingStatement(g)) != text {
			t.Fatal("two texts of one grant")
		}
	})
}

func TestAStandingGrantIsSpentOnce(t *testing.T) {
	t.Parallel()
	now := standingStart.Add(time.Minute)
	for _, test := range []struct {
		name   string
		change func(*action.StandingGrant)
		amount int64
		now    time.Time
		want   bool
	}{
		{"fresh", func(*action.StandingGrant) {}, 500, now, true},
		{"the last use and the last of the total", func(g *action.StandingGrant) { g.Uses, g.Spent = 2, 400 }, 500, now, true},
		{"one over the total", func(g *action.StandingGrant) { g.Spent = 401 }, 500, now, false},
		{"used up", func(g *action.StandingGrant) { g.Uses = 3 }, 1, now, false},
		{"revoked", func(g *action.StandingGrant) { g.RevokedAt = now }, 1, now, false},
		{"over", func(*action.StandingGrant) {}, 1, standingStart.Add(time.Hour), false},
		{"asked for in the future", func(*action.StandingGrant) {}, 1, standingStart.Add(-time.Hour), false},
	} {
		g := like()
		test.change(&g)
		if got := approval.Spendable(g, test.amount, test.now); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

func TestNoMemberEscapesAStandingGrantOfEquals(t *testing.T) {
	t.Parallel()
	value := rapid.OneOf(rapid.Just(canon.NullValue()), rapid.Map(rapid.Int64Range(-9, 9), canon.IntValue), rapid.Map(rapid.StringMatching(`[a-c/~]{0,3}`), canon.StringValue),
		rapid.Just(canon.ObjectValue()), rapid.Just(canon.ArrayValue(canon.IntValue(1))))
	object := rapid.Custom(func(t *rapid.T) canon.Value {
		var members []canon.Member
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-d/~]{1,2}`), 0, 4, rapid.ID).Draw(t, "names") {
			v := value.Draw(t, "value")
			if rapid.Bool().Draw(t, "deep") {
				v = canon.ObjectValue(canon.Member{Name: rapid.StringMatching(`[a-b]`).Draw(t, "inner"), Value: v})
			}
			members = append(members, canon.Member{Name: name, Value: v})
		}
		return canon.ObjectValue(members...)
	})
	rapid.Check(t, func(t *rapid.T) {
		a := paid()
		a.Payload.Args = string(object.Draw(t, "source").Canonical())
		leaves, ok := approval.Leaves(a.Payload.Args)
		if !ok {
			t.Fatal("no leaves")
		}
		g := like(func(g *action.StandingGrant) {
			g.Scope = action.Scope{AnyTarget: true}
			for _, l := range leaves {
				g.Scope.Members = append(g.Scope.Members, action.MemberRule{Pointer: l.Pointer, Rule: action.RuleEqual, Value: string(l.Value.Canonical())})
			}
		})
		if err := approval.FitsSource(g, a); err != nil {
			t.Fatalf("%s: %v", a.Payload.Args, err)
		}
		other := a
		other.Payload.Args = string(object.Draw(t, "other").Canonical())
		if _, member := approval.Uncovered(g, other); (member == "") != (other.Payload.Args == a.Payload.Args) {
			t.Fatalf("%s covers %s: %q", a.Payload.Args, other.Payload.Args, member)
		}
	})
}

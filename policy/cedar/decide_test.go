package cedar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

func with(change func(in *policy.Input)) func(*policy.Input) { return change }

func TestRulesDecideAsTheContractSays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, source, tool, args string
		change                   func(*policy.Input)
		effect                   string
		code                     string
	}{
		{name: "nothing satisfied denies", source: `permit (principal == User::"bob", action, resource);`,
			tool: "bank.pay", args: pay, effect: "deny", code: "no_matching_rule"},
		{name: "no rules at all deny", source: ``, tool: "bank.pay", args: pay, effect: "deny", code: "no_matching_rule"},
		{name: "permit allows", source: permitAll, tool: "bank.pay", args: pay, effect: "allow"},
		{name: "forbid beats permit", source: permitAll + `forbid (principal, action, resource);`,
			tool: "bank.pay", args: pay, effect: "deny"},
		{name: "require_approval beats allow", source: permitAll + `@decision("require_approval") permit (principal, action, resource);`,
			tool: "bank.pay", args: pay, effect: "require_approval"},
		{name: "forbid beats require_approval", source: `@decision("require_approval") permit (principal, action, resource); forbid (principal, action, resource);`,
			tool: "bank.pay", args: pay, effect: "deny"},
		{name: "integer is a Long", source: `permit (principal, action == Action::"bank.pay", resource) when { context.args.amount <= 500 };`,
			tool: "bank.pay", args: pay, effect: "allow"},
		{name: "number is a decimal", source: `permit (principal, action == Action::"bank.pay", resource) when { context.args has rate && context.args.rate.lessThan(decimal("1.2501")) };`,
			tool: "bank.pay", args: `{"amount":1,"currency":"EUR","vendor":"V","rate":1.25}`, effect: "allow"},
		{name: "whole number is a decimal where the schema says number", source: `permit (principal, action == Action::"bank.pay", resource) when { context.args has rate && context.args.rate == decimal("2.0") };`,
			tool: "bank.pay", args: `{"amount":1,"currency":"EUR","vendor":"V","rate":2}`, effect: "allow"},
		{name: "negative decimal", source: `permit (principal, action == Action::"bank.pay", resource) when { context.args has rate && context.args.rate == decimal("-0.5") };`,
			tool: "bank.pay", args: `{"amount":1,"currency":"EUR","vendor":"V","rate":-0.5}`, effect: "allow"},
		{name: "array is a set and a length", source: `permit (principal, action == Action::"mail.draft", resource) when { context.args.to.length == 3 && context.args.to.items.containsAll(["a","b"]) };`,
			tool: "mail.draft", args: `{"to":["a","b","a"],"body":""}`, effect: "allow"},
		{name: "array of records", source: `permit (principal, action == Action::"bank.pay", resource) when { context.args has lines && context.args.lines.items.contains({"sku": "x", "n": 2}) };`,
			tool: "bank.pay", args: `{"amount":1,"currency":"EUR","vendor":"V","lines":[{"sku":"x","n":2}]}`, effect: "allow"},
		{name: "role", source: `permit (principal in Role::"clerk", action, resource);`, tool: "bank.pay", args: pay, effect: "allow"},
		{name: "other role", source: `permit (principal in Role::"boss", action, resource);`, tool: "bank.pay", args: pay, effect: "deny", code: "no_matching_rule"},
		{name: "tenant", source: `permit (principal in Tenant::"acme", action, resource);`, tool: "bank.pay", args: pay, effect: "allow"},
		{name: "user", source: `permit (principal == User::"ann", action, resource);`, tool: "bank.pay", args: pay, effect: "allow"},
		{name: "read group", source: `permit (principal, action in Action::"read", resource);`, tool: "bank.balance", args: `{"account":"x"}`, effect: "allow"},
		{name: "read group has no mutation", source: `permit (principal, action in Action::"read", resource);`, tool: "mail.draft", args: `{"to":[],"body":""}`, effect: "deny", code: "no_matching_rule"},
		{name: "high impact is a mutation", source: `permit (principal, action in Action::"mutation", resource);`, tool: "bank.pay", args: pay, effect: "allow"},
		{name: "ordinary mutation is not high impact", source: `permit (principal, action in Action::"high_impact", resource);`, tool: "mail.draft", args: `{"to":[],"body":""}`, effect: "deny", code: "no_matching_rule"},
		{name: "tool resource where there is no target", source: `permit (principal, action, resource == Tool::"mail.draft");`, tool: "mail.draft", args: `{"to":[],"body":""}`, effect: "allow"},
		{name: "taint", source: permitAll + `forbid (principal, action in Action::"mutation", resource) when { context.taint.contains("web") };`,
			tool: "bank.pay", args: pay, change: with(func(in *policy.Input) { in.Session.Taint = []string{"web"} }), effect: "deny"},
		{name: "time", source: `permit (principal, action, resource) when { context.now < datetime("2026-05-04T12:00:01Z") };`, tool: "bank.pay", args: pay, effect: "allow"},
		{name: "turn, agent, owner", source: `permit (principal, action, resource) when { context.turn == 3 && context.agent == "agent" && context.owner == "ann" };`, tool: "bank.pay", args: pay, effect: "allow"},
		{name: "task is optional", source: `permit (principal, action, resource) when { context has task && context.task == "T1" };`, tool: "bank.pay", args: pay, effect: "deny", code: "no_matching_rule"},
		{name: "task", source: `permit (principal, action, resource) when { context has task && context.task == "T1" };`, tool: "bank.pay", args: pay,
			change: with(func(in *policy.Input) { in.Session.Task = "T1" }), effect: "allow"},
		{name: "grant", source: `permit (principal, action, resource) when { context has grant && context.grant == "G1" };`, tool: "bank.pay", args: pay,
			change: with(func(in *policy.Input) { in.Session.Grant = identity.Grant{ID: "G1"} }), effect: "allow"},
		{name: "approval evidence", source: `permit (principal, action, resource) when { context has approval && context.approval.voters.contains("bob") && context.approval.id == "A" };`, tool: "bank.pay", args: pay,
			change: with(func(in *policy.Input) { in.Approval = &policy.ApprovalFacts{ID: "A", Voters: []string{"bob"}} }), effect: "allow"},
		{name: "a grant for exactly this", source: `permit (principal, action, resource) when { context has grant && context.grant_exact };`, tool: "bank.pay", args: pay,
			change: with(func(in *policy.Input) {
				in.Session.Grant = identity.Grant{ID: "G", Digest: canon.Digest(in.Proposal.Hash)}
			}), effect: "allow"},
		{name: "a grant for something else", source: `permit (principal, action, resource) when { context has grant && context.grant_exact };`, tool: "bank.pay", args: pay,
			change: with(func(in *policy.Input) { in.Session.Grant = identity.Grant{ID: "G", Digest: canon.Sum([]byte("x"))} }), effect: "deny", code: "no_matching_rule"},
		{name: "a grant without digest", source: `permit (principal, action, resource) when { context has grant && context.grant_exact };`, tool: "bank.pay", args: pay,
			change: with(func(in *policy.Input) { in.Session.Grant = identity.Grant{ID: "G"} }), effect: "deny", code: "no_matching_rule"},
		{name: "a digest without grant", source: `permit (principal, action, resource) when { context.grant_exact };`, tool: "bank.pay", args: pay,
			change: with(func(in *policy.Input) { in.Session.Grant = identity.Grant{Digest: canon.Digest(in.Proposal.Hash)} }), effect: "deny", code: "no_matching_rule"},
		{name: "changes", source: `permit (principal, action, resource) when { context.changes.coerced.contains("/amount") };`, tool: "bank.pay", args: pay,
			change: with(func(in *policy.Input) {
				in.Proposal.Changes = []canon.Change{{Pointer: "/amount", Kind: canon.ChangeCoerced}}
			}), effect: "allow"},
		{name: "resolvers", source: `permit (principal, action, resource) when { context.resolvers.contains("vendors:/vendor") };`, tool: "bank.pay", args: pay,
			change: with(func(in *policy.Input) {
				in.Proposal.Evidence = []snapshot.Evidence{{Pointer: "/vendor", Resolver: "vendors"}}
			}), effect: "allow"},
		{name: "tool facts", source: `permit (principal, action, resource) when { context.tool.impact == "financial" && context.tool.high_impact && context.tool.mutation && context.tool.cataloged && context.tool.effect == "blind" && context.tool.name == "bank.pay" };`,
			tool: "bank.pay", args: pay, effect: "allow"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := call(t, tt.tool, tt.args)
			if tt.change != nil {
				tt.change(&in)
			}
			d := decide(t, load(t, tt.source), in)
			if d.Effect.String() != tt.effect || d.Code != tt.code {
				t.Errorf("got %s %q (%s), want %s %q", d.Effect, d.Code, d.Reason, tt.effect, tt.code)
			}
		})
	}
}

func withTargets(in policy.Input, ids ...string) policy.Input {
	for _, id := range ids {
		in.Proposal.Targets = append(in.Proposal.Targets, snapshot.Target{Type: "vendor", ID: id})
	}
	return in
}

func TestEveryTargetMustPass(t *testing.T) {
	t.Parallel()
	e := load(t, `
@id("v1") permit (principal, action == Action::"bank.pay", resource == Target::vendor::"V1");
@id("v2") @decision("require_approval") permit (principal, action == Action::"bank.pay", resource == Target::vendor::"V2");
@id("v3") permit (principal, action == Action::"bank.pay", resource == Target::vendor::"V3");
@id("no3") forbid (principal, action == Action::"bank.pay", resource == Target::vendor::"V3");`)
	tests := []struct {
		name   string
		ids    []string
		effect policy.Effect
		code   string
		rules  []string
	}{
		{"one that passes", []string{"V1"}, policy.Allow, "", []string{"v1"}},
		{"the same twice", []string{"V1", "V1"}, policy.Allow, "", []string{"v1"}},
		{"one asks", []string{"V1", "V2"}, policy.RequireApproval, "", []string{"v2"}},
		{"one is forbidden", []string{"V1", "V3"}, policy.Deny, "", []string{"no3"}},
		{"one has no rule", []string{"V1", "V9"}, policy.Deny, "no_matching_rule", nil},
		{"order does not matter", []string{"V9", "V1"}, policy.Deny, "no_matching_rule", nil},
		{"no target is the tool", nil, policy.Deny, "no_matching_rule", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := decide(t, e, withTargets(call(t, "bank.pay", pay), tt.ids...))
			if d.Effect != tt.effect || d.Code != tt.code {
				t.Errorf("got %s %q", d.Effect, d.Code)
			}
			if diff := cmp.Diff(tt.rules, d.Rules); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnyErrorDeniesWhateverOtherRulesSay(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, rule, args string }{
		{"overflow in a forbid", `@id("bad") forbid (principal, action == Action::"bank.pay", resource) when { context.args.amount * 9223372036854775807 > 5 };`, pay},
		{"overflow in a permit", `@id("bad") permit (principal, action == Action::"bank.pay", resource) when { context.args.amount + 9223372036854775807 > 5 };`, pay},
		{"guarded member beyond four places", `@id("bad") forbid (principal, action == Action::"bank.pay", resource) when { context.args has rate && context.args.rate.greaterThan(decimal("1.0")) };`,
			`{"amount":1,"currency":"EUR","vendor":"V","rate":1.00001}`},
		{"guarded member beyond the range", `@id("bad") forbid (principal, action == Action::"bank.pay", resource) when { context.args has rate && context.args.rate.greaterThan(decimal("1.0")) };`,
			`{"amount":1,"currency":"EUR","vendor":"V","rate":922337203685478}`},
		{"only has, member does not fit", `@id("bad") forbid (principal, action == Action::"bank.pay", resource) when { context.args has rate };`,
			`{"amount":1,"currency":"EUR","vendor":"V","rate":1.00001}`},
		{"null that the rule does not ask about", `@id("bad") forbid (principal, action == Action::"bank.pay", resource) when { context.args has region && context.args.region == "eu" };`,
			`{"amount":1,"currency":"EUR","vendor":"V","region":null}`},
		{"nested null", `@id("bad") forbid (principal, action == Action::"bank.pay", resource) when { context.args has to && context.args.to has limit && context.args.to.limit > 4 };`,
			`{"amount":1,"currency":"EUR","vendor":"V","to":{"id":"x","limit":null}}`},
		{"element beyond four places", `@id("bad") forbid (principal, action == Action::"bank.pay", resource) when { context.args has weights && context.args.weights.items.contains(decimal("1.0")) };`,
			`{"amount":1,"currency":"EUR","vendor":"V","weights":[1,0.00001]}`},
		{"whole record with a part that does not fit", `@id("bad") forbid (principal, action == Action::"bank.pay", resource) when { context.args has to && context.args.to == context.args.to };`,
			`{"amount":1,"currency":"EUR","vendor":"V","to":{"id":"x","fee":0.00001}}`},
		{"all arguments with an invisible member", `@id("bad") forbid (principal, action == Action::"bank.pay", resource) when { [context.args].contains(context.args) };`,
			`{"amount":1,"currency":"EUR","vendor":"V","extra":{"a":1}}`},
		{"all of context", `@id("bad") forbid (principal, action == Action::"bank.pay", resource) when { {"x": context}.x.args.amount > 5 };`,
			`{"amount":1,"currency":"EUR","vendor":"V","mixed":"a"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := decide(t, load(t, permitAll+tt.rule), call(t, "bank.pay", tt.args))
			if d.Effect != policy.Deny || d.Code != "policy_error" {
				t.Fatalf("got %s %q (%s)", d.Effect, d.Code, d.Reason)
			}
			if diff := cmp.Diff([]string{"bad"}, d.Rules); diff != "" {
				t.Error(diff)
			}
			for _, value := range []string{"500", "0.00001", "1.00001", "922337203685478", "EUR"} {
				if strings.Contains(d.Reason, value) {
					t.Errorf("the reason prints a value: %s", d.Reason)
				}
			}
		})
	}
}

func TestValueThatNoRuleReadsIsNoError(t *testing.T) {
	t.Parallel()
	rules := `permit (principal, action == Action::"bank.pay", resource) when { context.args.amount < 5 };
forbid (principal == User::"bob", action == Action::"bank.pay", resource) when { context.args has rate };
forbid (principal, action == Action::"bank.pay", resource == Target::vendor::"V9") when { context.args has rate };
permit (principal, action == Action::"bank.pay", resource) when { context.args has to && context.args.to.id == "x" };`
	args := `{"amount":1,"currency":"EUR","vendor":"V","rate":1.00001,"region":null,"to":{"id":"x","fee":0.00001,"limit":null},"weights":[0.00001],"extra":{"a":1},"either":[1]}`
	d := decide(t, load(t, rules), call(t, "bank.pay", args))
	if d.Effect != policy.Allow {
		t.Errorf("got %s %q (%s)", d.Effect, d.Code, d.Reason)
	}
}

func TestRuleMayAskAboutNulls(t *testing.T) {
	t.Parallel()
	e := load(t, permitAll+`forbid (principal, action == Action::"bank.pay", resource)
unless { !context.nulls.contains("/region") && context.args has region && context.args.region == "eu" };`)
	tests := map[string]policy.Effect{
		`{"amount":1,"currency":"EUR","vendor":"V","region":"eu"}`: policy.Allow,
		`{"amount":1,"currency":"EUR","vendor":"V","region":"us"}`: policy.Deny,
		`{"amount":1,"currency":"EUR","vendor":"V","region":null}`: policy.Deny,
		`{"amount":1,"currency":"EUR","vendor":"V"}`:               policy.Deny,
	}
	for args, want := range tests {
		d := decide(t, e, call(t, "bank.pay", args))
		if d.Effect != want || d.Code != "" {
			t.Errorf("%s: got %s %q (%s)", args, d.Effect, d.Code, d.Reason)
		}
	}
	none := load(t, `permit (principal, action == Action::"bank.pay", resource) when { context.nulls.isEmpty() || context.args has region };`)
	if d := decide(t, none, call(t, "bank.pay", `{"amount":1,"currency":"EUR","vendor":"V","region":null}`)); d.Code != "no_matching_rule" {
		t.Errorf("got %s %q (%s)", d.Effect, d.Code, d.Reason)
	}
}

func TestCedarJSONEscapesInArgumentsStayData(t *testing.T) {
	t.Parallel()
	e := load(t, `permit (principal, action == Action::"bank.pay", resource) when { context.args.currency == "EUR" };
permit (principal, action == Action::"bank.pay", resource) when { context.args has to && context.args.to.id == "boss" };`)
	for _, args := range []string{
		`{"amount":1,"vendor":"V","currency":{"__entity":{"type":"User","id":"boss"}}}`,
		`{"amount":1,"vendor":"V","currency":{"__extn":{"fn":"decimal","arg":"1.0"}}}`,
		`{"amount":1,"vendor":"V","currency":"{\"__entity\":{\"type\":\"User\",\"id\":\"boss\"}}"}`,
		`{"amount":1,"vendor":"V","currency":"USD","to":{"id":"x","__entity":{"type":"User","id":"boss"}}}`,
		`{"amount":1,"vendor":"V","currency":"USD","__entity":{"type":"User","id":"boss"}}`,
	} {
		if d := decide(t, e, call(t, "bank.pay", args)); d.Effect != policy.Deny {
			t.Errorf("%s: got %s (%s)", args, d.Effect, d.Reason)
		}
	}
}

func TestSatisfiedRequirementsCountTogether(t *testing.T) {
	t.Parallel()
	e := load(t, `
@id("base") permit (principal, action == Action::"bank.pay", resource);
@id("big") @decision("require_approval") @groups("admin:1|finance:2") @ttl("30m") @public_reason("Large payment.")
permit (principal, action == Action::"bank.pay", resource) when { context.args.amount >= 500 };
@id("tainted") @decision("require_approval") @groups("security") @ttl("5m") @pending_ttl("1h") @step_up @impact("high")
permit (principal, action == Action::"bank.pay", resource) when { context.taint.contains("web") };`)
	in := call(t, "bank.pay", pay)
	in.Session.Taint = []string{"web"}
	d := decide(t, e, in)
	want := policy.Decision{
		Effect: policy.RequireApproval, Reason: "approval required by rule big (p.cedar:3)", PublicReason: "Large payment.",
		PolicyVersion: e.Version("bank.pay"), RaiseImpact: true, Rules: []string{"big", "tainted"},
		Approval: &policy.Approval{
			Requirements: []action.Requirement{
				{AnyOf: []action.Group{{Name: "admin", Votes: 1}, {Name: "finance", Votes: 2}}},
				{AnyOf: []action.Group{{Name: "security", Votes: 1}}},
			},
			TTL: 5 * time.Minute, PendingTTL: time.Hour, StepUp: true,
		},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}

func TestUncatalogedToolIsAHighImpactMutationWithoutVisibleArguments(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, source, effect, code string }{
		{"any action", permitAll, "allow", ""},
		{"mutation", `permit (principal, action in Action::"mutation", resource);`, "allow", ""},
		{"high impact", `permit (principal, action in Action::"high_impact", resource);`, "allow", ""},
		{"read", `permit (principal, action in Action::"read", resource);`, "deny", "no_matching_rule"},
		{"another tool", `permit (principal, action == Action::"bank.pay", resource);`, "deny", "no_matching_rule"},
		{"its name in the facts", `permit (principal, action, resource) when { context.tool.name like "new.*" && !context.tool.cataloged };`, "allow", ""},
		{"a rule that reads its arguments", permitAll + `forbid (principal, action in Action::"mutation", resource) when { context.args has path && context.args.path like "/etc/*" };`, "deny", "policy_error"},
		{"a permit that reads its arguments", permitAll + `permit (principal, action in Action::"high_impact", resource) when { context.args.amount < 5 };`, "deny", "policy_error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := decide(t, load(t, tt.source), call(t, "new.tool", `{"path":"/etc/passwd"}`))
			if d.Effect.String() != tt.effect || d.Code != tt.code {
				t.Errorf("got %s %q (%s)", d.Effect, d.Code, d.Reason)
			}
		})
	}
}

func TestUndeclaredMemberThatARuleReadsDenies(t *testing.T) {
	t.Parallel()
	e := load(t, permitAll+`forbid (principal, action in Action::"mutation", resource) when { context.args has amount && context.args.amount > 5 };`)
	if d := decide(t, e, call(t, "open.call", `{"amount":6}`)); d.Code != "policy_error" {
		t.Errorf("got %s %q (%s)", d.Effect, d.Code, d.Reason)
	}
	if d := decide(t, e, call(t, "open.call", `{"path":"x","other":6}`)); d.Effect != policy.Allow {
		t.Errorf("got %s %q (%s)", d.Effect, d.Code, d.Reason)
	}
}

func TestInputThatContradictsTheCatalogDenies(t *testing.T) {
	t.Parallel()
	e := load(t, permitAll)
	changes := map[string]func(*policy.Input){
		"class differs":         func(in *policy.Input) { in.Tool.HighImpact = false },
		"facts of another tool": func(in *policy.Input) { in.Tool.Name = "bank.balance" },
		"nothing frozen":        func(in *policy.Input) { in.Proposal.Args = snapshot.Snapshot{} },
		"name of a group":       func(in *policy.Input) { in.Proposal.ToolName, in.Tool.Name = "mutation", "mutation" },
		"name of the handoff":   func(in *policy.Input) { in.Proposal.ToolName, in.Tool.Name = "handoff", "handoff" },
		"target of another type": func(in *policy.Input) {
			in.Proposal.Targets = []snapshot.Target{{Type: "account", ID: "x"}}
		},
		"catalogued later": func(in *policy.Input) { in.Proposal.ToolName, in.Tool.Name = "new.tool", "new.tool" },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := call(t, "bank.pay", pay)
			change(&in)
			if d := decide(t, e, in); d.Effect != policy.Deny || d.Code != "policy_error" {
				t.Errorf("got %s %q (%s)", d.Effect, d.Code, d.Reason)
			}
		})
	}
}

package cedar_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// conditions are all forms that are compiled, and some that are not.
var conditions = []string{
	`context.args.amount <= 500`, `context.args.amount < 5`, `context.args.amount > -3`, `context.args.amount >= 9007199254740991`,
	`context.args.amount == 5`, `context.args.amount != 5`, `context.args.amount + 5 > 10`, `context.args.amount - 500 == 0`,
	`-context.args.amount < 0`, `context.args.amount + 9223372036854775807 > 5`, `context.args.amount - 9223372036854775807 > 5`,
	`context.args.amount * 2 > 10`, `context.args.amount * 9223372036854775807 > 10`, `context.args.amount * -1 <= context.args.amount`, `500 >= context.args.amount`, `[1, 5, 500].contains(context.args.amount)`,
	`context.args.currency == "EUR"`, `context.args.currency != context.args.vendor`, `["EUR", "Ünit"].contains(context.args.currency)`,
	`context.args.vendor like "V*"`, `context.args.vendor like "*\*"`, `context.args.currency == ""`,
	`context.args has note`, `context.args has note && context.args.note == "x"`, `if context.args has note then context.args.note like "*" else true`,
	`context.args has rate && context.args.rate.lessThan(decimal("1.5"))`, `context.args has rate && context.args.rate.greaterThanOrEqual(decimal("1.5"))`,
	`context.args has rate && context.args.rate == decimal("1.5")`, `context.args has rate && context.args.rate.greaterThan(decimal("-0.5"))`,
	`context.args has rate && context.args.rate.lessThanOrEqual(decimal("2.0"))`,
	`context.args has region && context.args.region == "eu"`, `!context.nulls.contains("/region") && context.args has region && context.args.region == "eu"`,
	`context.nulls.isEmpty()`, `context.nulls.contains("/to/limit")`,
	`context.args has tags && context.args.tags.items.contains("a")`, `context.args has tags && context.args.tags.length > 1`,
	`context.args has tags && context.args.tags.items.containsAny(["a", "z"])`, `context.args has tags && context.args.tags.items.isEmpty()`,
	`context.args has tags && context.args.tags.items.containsAll(["a", "b"])`, `context.taint.containsAny(["web", "x"])`, `context.changes.default.containsAll(["/currency"])`,
	`context.args has weights && context.args.weights.items.contains(decimal("1.5"))`, `context.args has weights && context.args.weights.length == 2`,
	`context.args has lines && context.args.lines.items.contains({"sku": "x", "n": 2})`,
	`context.args has to`, `context.args has to && context.args.to.id == context.args.vendor`,
	`context.args has to && context.args.to has fee && context.args.to.fee.greaterThan(decimal("0.5"))`,
	`context.args has to && context.args.to has limit && context.args.to.limit > 4`, `context.args has to && context.args.to == context.args.to`,
	`context.args has urgent && context.args.urgent`, `context.args has urgent && context.args.urgent == true`,
	`context.taint.contains("web")`, `context.taint.isEmpty()`, `context.changes.default.contains("/currency")`, `context.changes.default.isEmpty()`, `context.changes.coerced.isEmpty()`,
	`context.confusable.mixed.isEmpty()`, `context.confusable.alike.contains("/note")`, `context has approval && context.approval.exact`, `context.confusable == context.confusable`, `context.grant_exact`, `context has grant && context.grant_exact`,
	`context.resolvers.contains("vendors:/vendor")`, `context.resolvers.isEmpty()`, `context.turn > 2`, `context.targets == 1`,
	`context.now < datetime("2026-05-04T12:00:00Z")`, `context.now >= datetime("2026-05-04")`, `context.now == datetime("2026-05-04T12:00:00Z")`,
	`context.agent == "agent"`, `context.owner like "a*"`, `context has task`, `context has task && context.task == "T1"`,
	`context has grant && context.grant == "G1"`, `context has approval`, `context has approval && context.approval.voters.contains("bob")`,
	`context has approval && context.approval.id == "A"`, `context.tool.impact == "financial"`, `context.tool.effect != "blind"`,
	`context.tool.high_impact`, `context.tool.mutation`, `context.tool.cataloged`, `context.tool.name == "bank.pay"`,
	`principal == User::"ann"`, `User::"bob" != principal`, `principal in Role::"clerk"`, `principal in [Role::"boss", Role::"staff"]`, `principal in Tenant::"acme"`, `principal in User::"ann"`,
	`principal is User`, `action == Action::"bank.pay"`, `action in Action::"mutation"`, `action in [Action::"read", Action::"mail.draft"]`,
	`resource == Target::vendor::"V1"`, `resource is Tool`, `resource is Target::vendor`, `resource in [Target::vendor::"V2", Target::vendor::"V3"]`,
	`true`, `1 == 2`, `context.turn > 2 && [context.args].contains(context.args)`,
	`context.turn > 2 && context.args has weights && context.args.weights == context.args.weights`,
	`context.turn > 2 && context.args has to && context.args.to == context.args.to`, `principal is User in Role::"clerk"`, `[context.args].contains(context.args)`,
}

func drawCondition(c choices, depth int) string {
	form := 0
	if depth > 0 {
		form = c.pick(10)
	}
	part := func() string { return "(" + drawCondition(c, depth-1) + ")" }
	switch form {
	case 5:
		return part() + " && " + part()
	case 6:
		return part() + " || " + part()
	case 7:
		return "!" + part()
	case 8:
		return "if " + part() + " then " + part() + " else " + part()
	case 9:
		return part() + " == " + part()
	default:
		return conditions[c.pick(len(conditions))]
	}
}

func drawRule(c choices) string {
	one := func(of ...string) string { return of[c.pick(len(of))] }
	head := one("permit", "permit", "forbid", `@decision("require_approval") @groups("admin:1|finance:2") @ttl("5m") permit`,
		`@decision("require_approval") @step_up permit`, `@impact("high") permit`, `@public_reason("why") permit`, `@public_reason("no") forbid`)
	scope := fmt.Sprintf("(%s, action == Action::\"bank.pay\", %s)",
		one("principal", "principal", `principal == User::"ann"`, `principal in Role::"clerk"`, `principal in Tenant::"acme"`, `principal is User`, `principal is User in Role::"boss"`),
		one("resource", "resource", `resource == Target::vendor::"V1"`, `resource is Tool`, `resource in Target::vendor::"V2"`, `resource is Target::vendor`))
	rule := head + " " + scope
	for range c.pick(3) {
		rule += "\n" + one("when", "when", "unless") + " { " + drawCondition(c, 2) + " }"
	}
	return rule + ";\n"
}

func drawInput(t fataler, c choices) policy.Input {
	one := func(of ...string) string { return of[c.pick(len(of))] }
	args := []string{`"vendor":` + one(`"V1"`, `"*"`)}
	if c.pick(16) != 1 { // what the schema demands is there, or else a rule fails
		args = append(args, `"amount":`+one("1", "5", "500", "-3", "9007199254740991"), `"currency":`+one(`"EUR"`, `"Ünit"`, `""`))
	}
	for _, more := range []string{
		one(`"rate":1.5`, `"rate":2`, `"rate":-0.5`, `"rate":1.00001`, `"rate":922337203685478`, `"rate":0.0001`), one(`"note":"x"`, `"note":""`, `"note":"\u0430bc"`, `"note":"\u0430\u200b"`),
		one(`"region":"eu"`, `"region":null`, `"region":"us"`), one(`"tags":[]`, `"tags":["a","b","a"]`, `"tags":["z"]`), one(`"weights":[1.5,2]`, `"weights":[0.00001]`),
		one(`"lines":[{"sku":"x","n":2}]`, `"lines":[]`), one(`"to":{"id":"V1"}`, `"to":{"id":"V1","fee":0.75}`, `"to":{"id":"x","fee":0.00001}`, `"to":{"id":"x","limit":null}`, `"to":{"id":"x","limit":5}`),
		one(`"urgent":true`, `"urgent":false`), one(`"mixed":"a"`, `"extra":{"a":null}`),
	} {
		if c.pick(3) == 0 {
			args = append(args, more)
		}
	}
	in := call(t, "bank.pay", "{"+strings.Join(args, ",")+"}")
	in.Session = identity.Session{Tenant: one("acme", "other"), Principal: one("ann", "bob"), Roles: []string{one("clerk", "boss"), "staff"},
		Agent: "agent", Owner: one("ann", "bob"), Task: one("", "T1"), Grant: identity.Grant{ID: one("", "G1")}, Taint: [][]string{nil, {"mail", "web"}}[len(one("", "t"))]}
	if one("", "g") != "" {
		in.Session.Grant.Digest = canon.Digest(in.Proposal.Hash)
	}
	in.Turn = c.pick(5)
	in.Now = noon.Add(time.Duration(c.pick(3)-1) * time.Millisecond)
	in.Tool.Effect = one("blind", "keyed")
	if one("", "a") != "" {
		in.Approval = &policy.ApprovalFacts{ID: one("A", "B"), Voters: []string{one("bob", "eve")}, Exact: one("", "x") != ""}
	}
	for range []int{0, 1, 1, 2, 3}[c.pick(5)] {
		in.Proposal.Targets = append(in.Proposal.Targets, snapshot.Target{Type: one("vendor", "vendor", "vendor", "vendor", "other"), ID: one("V1", "V2")})
	}
	if one("", "c") != "" {
		in.Proposal.Changes = []canon.Change{{Pointer: "/currency", Kind: canon.ChangeDefault}}
		in.Proposal.Evidence = []snapshot.Evidence{{Pointer: "/vendor", Resolver: "vendors"}}
	}
	return in
}

// choices decide what is drawn: each is one of n.
type choices interface{ pick(n int) int }

// rapids are choices of a property test.
type rapids struct{ *rapid.T }

func (r rapids) pick(n int) int { return rapid.IntRange(0, n-1).Draw(r.T, "choice") }

// fuzzed are choices from bytes, which cost nothing and end with the first of all.
type fuzzed struct{ bytes []byte }

func (f *fuzzed) pick(n int) int {
	if len(f.bytes) == 0 {
		return 0
	}
	b := f.bytes[0]
	f.bytes = f.bytes[1:]
	return int(b) % n
}

// sameAsCedar draws rules and calls and reports how many calls there were and
// how many of them were answered at once.
func sameAsCedar(t *rapid.T, inputs int) (asked, prompt int) {
	c := rapids{t}
	source := strings.Join(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return drawRule(rapids{t}) }), 1, 5).Draw(t, "rules"), "")
	e, err := cedar.LoadModels(map[string][]byte{"p": []byte(source)}, tools(), cedar.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	j := judgesOf(e)
	for range inputs {
		in := drawInput(t, c)
		j.decide(t, in)
		asked++
		if _, ok := e.Answer(in); ok {
			prompt++
		}
	}
	return asked, prompt
}

// Whatever the rules and the call, the compiled rules either say exactly what
// Cedar's evaluator says with all checks around it, or nothing.
func TestCompiledRulesSayWhatCedarSays(t *testing.T) {
	t.Parallel()
	const engines, inputs = 4, 32 // in each of 100 rounds
	var asked, prompt int
	rapid.Check(t, func(t *rapid.T) {
		for range engines {
			a, p := sameAsCedar(t, inputs)
			asked, prompt = asked+a, prompt+p
		}
	})
	if prompt < asked/4 {
		t.Errorf("%d of %d calls were answered at once: too few to prove anything", prompt, asked)
	}
	t.Logf("%d calls, %d answered at once", asked, prompt)
}

// FuzzCompiledRules is the same with choices from bytes: of up to three rules
// and of two calls. Engines for the rules that were drawn before are kept, for
// loading one takes longer than everything else.
func FuzzCompiledRules(f *testing.F) {
	for i := range byte(16) {
		f.Add(bytes.Repeat([]byte{i, 37 * i, 101 * i, 11}, 8), bytes.Repeat([]byte{i, 59 * i, 7}, 20), bytes.Repeat([]byte{7, 3 * i}, 30))
	}
	pay := tools()[1:3] // with the only other tool that a condition names
	const kept = 512
	known := map[string]judges{}
	f.Fuzz(func(t *testing.T, rules, first, second []byte) {
		c := &fuzzed{rules}
		source := ""
		for range 1 + c.pick(3) {
			source += drawRule(c)
		}
		j, ok := known[source]
		if !ok {
			e, err := cedar.LoadModels(map[string][]byte{"p": []byte(source)}, pay, cedar.Options{})
			if err != nil {
				t.Fatalf("%v\n%s", err, source)
			}
			if len(known) == kept {
				clear(known)
			}
			j = judgesOf(e)
			known[source] = j
		}
		j.decide(t, drawInput(t, &fuzzed{first}))
		j.decide(t, drawInput(t, &fuzzed{second}))
	})
}

// Every condition alone, on calls of all kinds. It is answered at once as often
// as if it got facts that it does not read.
func TestEveryCompiledConditionSaysWhatCedarSays(t *testing.T) {
	t.Parallel()
	engines, told := make([]*cedar.Engine, len(conditions)), make([]*cedar.Engine, len(conditions))
	for i, c := range conditions {
		source := `permit (principal, action == Action::"bank.pay", resource) when { ` + c + ` };`
		engines[i], told[i] = load(t, source), cedar.TellAll(load(t, source))
	}
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t, rapids{t})
		for i, e := range engines {
			decide(t, e, in)
			_, ok := e.Answer(in)
			if _, want := told[i].Answer(in); ok != want {
				t.Fatalf("%s is answered at once: %t, with all facts %t", conditions[i], ok, want)
			}
		}
	})
}

func TestCommonRulesAreAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		condition, args string
		want            bool
	}{
		"limit and currency":                {`context.args.amount <= 500 && ["EUR"].contains(context.args.currency)`, pay, true},
		"absent member behind has":          {`context.args has rate && context.args.rate.lessThan(decimal("1.0"))`, pay, true},
		"taint and role":                    {`context.taint.contains("web") || principal in Role::"clerk"`, pay, true},
		"list":                              {`context.args has tags && context.args.tags.items.contains("a")`, `{"amount":1,"currency":"EUR","vendor":"V","tags":["a"]}`, true},
		"overflow is Cedar's to tell":       {`context.args.amount + 9223372036854775807 > 1`, pay, false},
		"value that does not fit":           {`context.args has rate`, `{"amount":1,"currency":"EUR","vendor":"V","rate":0.00001}`, false},
		"null":                              {`context.args has region`, `{"amount":1,"currency":"EUR","vendor":"V","region":null}`, false},
		"operator that is not compiled":     {`[context.args].contains(context.args)`, pay, false},
		"large arguments for a long answer": {`context.args.amount > 1`, `{"amount":1,"currency":"EUR","vendor":"` + strings.Repeat("V", 1<<19) + `"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := load(t, `permit (principal, action == Action::"bank.pay", resource) when { `+c.condition+` };`)
			in := call(t, "bank.pay", c.args)
			decide(t, e, in)
			if _, ok := e.Answer(in); ok != c.want {
				t.Errorf("answered at once: %v", ok)
			}
		})
	}
}

func TestFactsOfAnotherToolAreNotAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	e := load(t, permitAll)
	for name, change := range map[string]func(in *policy.Input){
		"facts of another tool of the class": func(in *policy.Input) { in.Tool.Name = "open.call" },
		"another class":                      func(in *policy.Input) { in.Tool.HighImpact = true },
		"not cataloged":                      func(in *policy.Input) { in.Tool.Cataloged = false },
		"unknown type of target": func(in *policy.Input) {
			in.Proposal.Targets = []snapshot.Target{{Type: "vendor", ID: "V1"}}
		},
		"nothing frozen": func(in *policy.Input) { in.Proposal.Args = snapshot.Snapshot{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := call(t, "mail.draft", `{"to":[],"body":"x"}`)
			change(&in)
			if d := decide(t, e, in); d.Code != "policy_error" {
				t.Errorf("got %v %q", d.Effect, d.Code)
			}
			if _, ok := e.Answer(in); ok {
				t.Error("answered at once")
			}
		})
	}
}

// State that is used again must not carry anything from one call to another.
func TestCallsDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	e := load(t, `permit (principal, action == Action::"bank.pay", resource) when { context.args has note && context.args.note == "x" };
forbid (principal, action == Action::"bank.pay", resource) when { context.args.amount > 5 };
permit (principal, action == Action::"mail.draft", resource) when { context.args.body == "x" };`)
	inputs := map[policy.Effect][]policy.Input{
		policy.Allow: {call(t, "bank.pay", `{"amount":1,"currency":"E","vendor":"V","note":"x"}`), call(t, "mail.draft", `{"to":[],"body":"x"}`)},
		policy.Deny:  {call(t, "bank.pay", `{"amount":1,"currency":"E","vendor":"V"}`), call(t, "bank.pay", pay), call(t, "mail.draft", `{"to":[],"body":""}`)},
	}
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			for range 50 {
				for want, all := range inputs {
					for _, in := range all {
						if d, ok := e.Answer(in); !ok || d.Effect != want {
							t.Errorf("%s: got %v %v, want %v", in.Proposal.Args.Text(), d.Effect, ok, want)
						}
					}
				}
			}
		})
	}
	together.Wait()
}

// The decision of the call before is given again where the same rules hold:
// what a caller does with it must not reach the next.
func TestDecisionBelongsToItsCaller(t *testing.T) {
	t.Parallel()
	e := load(t, `@id("one") permit (principal, action == Action::"bank.pay", resource);
@id("two") permit (principal, action == Action::"bank.pay", resource) when { context.args.amount > 5 };`)
	for _, c := range []struct {
		args string
		want []string
	}{
		{`{"amount":9,"currency":"E","vendor":"V"}`, []string{"one", "two"}},
		{`{"amount":9,"currency":"E","vendor":"W"}`, []string{"one", "two"}},
		{`{"amount":1,"currency":"E","vendor":"V"}`, []string{"one"}},
		{`{"amount":7,"currency":"E","vendor":"V"}`, []string{"one", "two"}},
	} {
		d := policy.Evaluate(t.Context(), e, call(t, "bank.pay", c.args), 0)
		if diff := cmp.Diff(c.want, d.Rules); diff != "" || d.Effect != policy.Allow {
			t.Errorf("%s: %v %s", c.args, d.Effect, diff)
		}
		clear(d.Rules)
	}
}

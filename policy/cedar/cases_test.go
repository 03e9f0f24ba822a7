package cedar_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
)

func TestI01ErrorOfAForbidIsNotSkipped(t *testing.T) {
	t.Parallel()
	source := `forbid (principal, action == Action::"bank.pay", resource) when { context.args.currency in ["free", "trial"] };` + permitAll
	_, err := cedar.LoadModels(map[string][]byte{"p.cedar": []byte(source)}, tools(), cedar.Options{})
	if err == nil {
		t.Fatal("the rule loads")
	}
	overflow := `forbid (principal, action, resource) when { context.turn + 9223372036854775807 == 0 };` + permitAll
	if d := decide(t, load(t, overflow), call(t, "bank.pay", pay)); d.Effect != policy.Deny || d.Code != "policy_error" {
		t.Errorf("got %s %q", d.Effect, d.Code)
	}
}

func TestI02ErrorsNameTheRule(t *testing.T) {
	t.Parallel()
	e := load(t, `@id("sum") forbid (principal, action, resource) when { context.turn + 9223372036854775807 == 0 };`)
	d := decide(t, e, call(t, "bank.pay", pay))
	if diff := cmp.Diff([]string{"sum"}, d.Rules); diff != "" || !strings.Contains(d.Reason, "p.cedar:1") {
		t.Errorf("%s %s", diff, d.Reason)
	}
}

func TestI04OmittedMemberDoesNotPassADenyRule(t *testing.T) {
	t.Parallel()
	unguarded := permitAll + `forbid (principal, action == Action::"bank.pay", resource) when { context.args.region != "eu" };`
	if _, err := cedar.LoadModels(map[string][]byte{"p.cedar": []byte(unguarded)}, tools(), cedar.Options{}); err == nil {
		t.Error("an unguarded optional member loads")
	}
}

func TestI06MismatchedKindsAreAnErrorAndIntegersAreExact(t *testing.T) {
	t.Parallel()
	mixed := `permit (principal, action == Action::"bank.pay", resource) when { context.args.amount <= decimal("5.0") };`
	if _, err := cedar.LoadModels(map[string][]byte{"p.cedar": []byte(mixed)}, tools(), cedar.Options{}); err == nil {
		t.Error("a comparison of Long and decimal loads")
	}
	e := load(t, `permit (principal, action == Action::"bank.pay", resource) when { context.args.amount <= 9007199254740990 };`)
	if d := decide(t, e, call(t, "bank.pay", `{"amount":9007199254740991,"currency":"EUR","vendor":"V"}`)); d.Effect != policy.Deny {
		t.Errorf("got %s", d.Effect)
	}
}

func TestI08I09IntegersCompareAsIntegers(t *testing.T) {
	t.Parallel()
	e := load(t, `permit (principal, action == Action::"bank.pay", resource) when { context.args.amount > 100 };`)
	for args, want := range map[string]policy.Effect{
		`{"amount":101,"currency":"EUR","vendor":"V"}`: policy.Allow,
		`{"amount":100,"currency":"EUR","vendor":"V"}`: policy.Deny,
	} {
		if d := decide(t, e, call(t, "bank.pay", args)); d.Effect != want {
			t.Errorf("%s: got %s (%s)", args, d.Effect, d.Reason)
		}
	}
}

// The raw text of the case: a Cyrillic a in a path below .ssh.
const disguised = "{\"account\":\"/home/user/.ssh/\\u0430uthorized\"}"

func TestC01DefaultPolicyAsksAboutMixedScriptsInReads(t *testing.T) {
	t.Parallel()
	name, text := cedar.Builtin()
	e, err := cedar.LoadModels(map[string][]byte{name: text}, tools(), cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]policy.Effect{
		disguised: policy.RequireApproval,
		`{"account":"/home/user/.ssh/authorized"}`: policy.Allow,
		`{"account":"/home/иван/письма"}`:          policy.Allow,
	} {
		in := call(t, "bank.balance", args)
		if d := decide(t, e, in); d.Effect != want {
			t.Errorf("%s: got %s (%s)", args, d.Effect, d.Reason)
		}
		if kept := in.Proposal.Args.Text(); strings.Contains(args, "0430uth") && !strings.Contains(kept, "\u0430uthorized") {
			t.Errorf("the snapshot changed the text: %s", kept)
		}
	}
}

func TestC01PolicySeesWhereATextMayMislead(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]policy.Effect{
		`permit (principal, action, resource) when { context.confusable.mixed.contains("/account") };`:                                  policy.Allow,
		`permit (principal, action, resource) when { context.confusable.alike.isEmpty() && context.confusable.unseen.isEmpty() };`:      policy.Allow,
		permitAll + `forbid (principal, action, resource) unless { context.confusable.mixed.isEmpty() };`:                               policy.Deny,
		permitAll + `forbid (principal, action == Action::"bank.balance", resource) when { context.args.account like "*/.ssh/auth*" };`: policy.Allow,
	} {
		if d := decide(t, load(t, source), call(t, "bank.balance", disguised)); d.Effect != want {
			t.Errorf("%s: got %s (%s)", source, d.Effect, d.Reason)
		}
	}
}

func TestC04AllowIsExactAndDenyMayBeWide(t *testing.T) {
	t.Parallel()
	allow := load(t, `permit (principal, action == Action::"bank.balance", resource) when { context.args.account == "./safe" };`)
	deny := load(t, permitAll+`forbid (principal, action == Action::"bank.balance", resource) when { context.args.account like "./s*" || context.args.account like "./S*" };`)
	for account, want := range map[string][2]policy.Effect{
		"./safe": {policy.Allow, policy.Deny}, "./SAFE": {policy.Deny, policy.Deny}, "./other": {policy.Deny, policy.Allow},
	} {
		in := call(t, "bank.balance", `{"account":"`+account+`"}`)
		if got := [2]policy.Effect{decide(t, allow, in).Effect, decide(t, deny, in).Effect}; got != want {
			t.Errorf("%s: got %v", account, got)
		}
	}
}

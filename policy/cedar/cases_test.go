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

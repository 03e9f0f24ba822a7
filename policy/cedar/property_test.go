package cedar_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
)

// A number that a rule reads is either compared exactly or denied. The oracle
// is exact arithmetic.
func TestNumbersAreExactOrDenied(t *testing.T) {
	t.Parallel()
	e := load(t, permitAll+`forbid (principal, action == Action::"bank.pay", resource)
when { context.args has rate && context.args.rate.greaterThan(decimal("1.5")) };`)
	limit, unit := big.NewRat(3, 2), big.NewRat(10_000, 1)
	low, high := big.NewInt(-1<<63), big.NewInt(1<<63-1)
	rapid.Check(t, func(t *rapid.T) {
		text := literal().Draw(t, "number")
		exact, _ := new(big.Rat).SetString(text)
		scaled := new(big.Rat).Mul(exact, unit)
		want := policy.Allow
		code := ""
		switch {
		case !scaled.IsInt() || scaled.Num().Cmp(low) < 0 || scaled.Num().Cmp(high) > 0:
			want, code = policy.Deny, "policy_error"
		case exact.Cmp(limit) > 0:
			want = policy.Deny
		}
		d := decide(t, e, call(t, "bank.pay", fmt.Sprintf(`{"amount":1,"currency":"EUR","vendor":"V","rate":%s}`, text)))
		if d.Effect != want || d.Code != code {
			t.Fatalf("got %s %q (%s), want %s %q", d.Effect, d.Code, d.Reason, want, code)
		}
	})
}

// literal generates numbers in the domain of frozen arguments.
func literal() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		whole := rapid.OneOf(rapid.Int64Range(-20, 20), rapid.Int64Range(-999_999_999, 999_999_999)).Draw(t, "whole")
		places := rapid.IntRange(0, 6).Draw(t, "places")
		if places == 0 {
			return fmt.Sprint(whole)
		}
		fraction := rapid.Int64Range(1, 9).Draw(t, "fraction")
		sign := ""
		if whole < 0 {
			sign, whole = "-", -whole
		}
		return fmt.Sprintf("%s%d.%s%d", sign, whole, strings.Repeat("0", places-1), fraction)
	})
}

// Adding a forbid never lets a call through that was stopped before, and
// adding a rule never turns an error into anything else.
func TestMoreForbidsNeverPermitMore(t *testing.T) {
	t.Parallel()
	pool := []string{
		`permit (principal, action, resource);`,
		`permit (principal in Role::"clerk", action == Action::"bank.pay", resource) when { context.args.amount > 5 };`,
		`@decision("require_approval") permit (principal, action in Action::"mutation", resource);`,
		`permit (principal == User::"bob", action, resource);`,
		`permit (principal, action == Action::"bank.pay", resource) when { context.args has rate };`,
	}
	forbids := []string{
		`forbid (principal, action, resource) when { context.turn > 2 };`,
		`forbid (principal, action == Action::"bank.pay", resource) when { context.args.amount > 5 };`,
		`forbid (principal, action == Action::"bank.pay", resource) when { context.args has rate && context.args.rate.lessThan(decimal("1.0")) };`,
		`forbid (principal, action == Action::"bank.pay", resource) when { context.args.amount * 9223372036854775807 < 0 };`,
		`forbid (principal == User::"bob", action, resource);`,
	}
	rapid.Check(t, func(t *rapid.T) {
		base := strings.Join(rapid.SliceOfDistinct(rapid.SampledFrom(pool), rapid.ID[string]).Draw(t, "permits"), "\n")
		more := strings.Join(rapid.SliceOfDistinct(rapid.SampledFrom(forbids), rapid.ID[string]).Draw(t, "forbids"), "\n")
		in := call(t, "bank.pay", rapid.SampledFrom([]string{pay, `{"amount":1,"currency":"EUR","vendor":"V","rate":0.5}`,
			`{"amount":9,"currency":"EUR","vendor":"V","rate":0.00001}`}).Draw(t, "args"))
		before, after := decideAll(t, base, in), decideAll(t, base+"\n"+more, in)
		if after.Effect > before.Effect {
			t.Fatalf("%s became %s", before.Effect, after.Effect)
		}
		if before.Code == policy.ReasonError && after.Effect != policy.Deny {
			t.Fatalf("an error became %s", after.Effect)
		}
	})
}

func decideAll(t *rapid.T, source string, in policy.Input) policy.Decision {
	e, err := cedar.LoadModels(map[string][]byte{"p": []byte(source)}, tools(), cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return decide(t, e, in)
}

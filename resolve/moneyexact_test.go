package resolve_test

import (
	"context"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

// powers are the units of amounts.
var powers = map[string]int64{"": 1, "hundred": 100, "thousand": 1e3, "lakh": 1e5, "million": 1e6, "crore": 1e7, "billion": 1e9, "trillion": 1e12}

var powerNames = []string{"", "hundred", "thousand", "lakh", "million", "crore", "billion", "trillion"}

// fataler is a test, or a check of rapid.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// exactOrRefused compares the resolver with an independent computation in
// rational numbers. It reports whether the amount has an answer.
func exactOrRefused(t fataler, m *resolve.Money, in map[string]canon.Value) bool {
	t.Helper()
	amount, unit, code := in["amount"].Text(), in["unit"].Text(), in["currency"].Text()
	digits, known := resolve.CurrencyDigits(code)
	want, ok := new(big.Rat).SetString(amount)
	if !known || !ok {
		t.Fatalf("%s %s is no amount", amount, code)
	}
	want.Mul(want, new(big.Rat).SetInt64(powers[unit]))
	want.Mul(want, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)))
	representable := want.IsInt() && want.Num().IsInt64() && canon.IntValue(want.Num().Int64()).Kind() == canon.Number &&
		!(want.Sign() == 0 && strings.HasPrefix(amount, "-"))
	a, err := m.Resolve(context.Background(), in)
	if (err == nil) != representable {
		t.Fatalf("%s %s %s: %v, representable %v", amount, unit, code, err, representable)
	}
	if err == nil && (a.Values["amountMinor"].NumberText() != want.Num().String() || a.Values["currency"].Text() != code) {
		t.Fatalf("%s %s %s: %s %s, want %s", amount, unit, code, a.Values["amountMinor"].NumberText(), a.Values["currency"].Text(), want.Num())
	}
	return err == nil
}

func asked(amount, unit, code string) map[string]canon.Value {
	return map[string]canon.Value{"amount": canon.StringValue(amount), "unit": canon.StringValue(unit), "currency": canon.StringValue(code)}
}

func TestMoneyInEveryCurrencyIsExactOrRefused(t *testing.T) {
	t.Parallel()
	m := anyMoney(t)
	rapid.Check(t, func(t *rapid.T) {
		exactOrRefused(t, m, asked(rapid.StringMatching(`-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,6})?`).Draw(t, "amount"),
			rapid.SampledFrom(powerNames).Draw(t, "unit"), rapid.SampledFrom(resolve.Currencies()).Draw(t, "code")))
	})
}

// A hundred thousand amounts, spread over every currency and unit.
func TestMoneyOfAHundredThousandAmountsIsNeverRounded(t *testing.T) {
	t.Parallel()
	m := anyMoney(t)
	r := rand.New(rand.NewPCG(4217, 2026))
	codes := resolve.Currencies()
	const amounts = 100_000
	exact, tried := 0, map[string]bool{}
	for i := range amounts {
		code := codes[i%len(codes)]
		tried[code] = true
		if exactOrRefused(t, m, asked(anyAmount(r), powerNames[i/len(codes)%len(powerNames)], code)) {
			exact++
		}
	}
	t.Logf("%d amounts in %d currencies: %d exact, %d refused, none rounded", amounts, len(tried), exact, amounts-exact)
	if len(tried) != len(codes) || exact < amounts/10 || exact > amounts*9/10 {
		t.Errorf("the amounts say little: %d of %d exact, in %d of %d currencies", exact, amounts, len(tried), len(codes))
	}
}

// anyAmount has up to 16 digits before the point and up to 5 behind it, short
// ones as often as long ones.
func anyAmount(r *rand.Rand) string {
	text := strconv.FormatInt(r.Int64N([...]int64{10, 1000, 1e5, 1e8, 1e12, 1e16}[r.IntN(6)]), 10)
	if places := r.IntN(6); places > 0 {
		text += "."
		for range places {
			text += strconv.Itoa(r.IntN(10))
		}
	}
	if r.IntN(10) == 0 {
		return "-" + text
	}
	return text
}

func anyMoney(t *testing.T) *resolve.Money {
	t.Helper()
	m, err := resolve.NewMoney(resolve.MoneyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

package display

import (
	"strconv"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

// Money formats minor units of a currency, such as "USD 8,400.00". It
// reports false unless the amount is an integer and the currency has minor
// units.
func Money(amount, currency canon.Value) (string, bool) {
	minor, whole := amount.Int64()
	digits, known := resolve.CurrencyDigits(currency.Text())
	if amount.Kind() != canon.Number || currency.Kind() != canon.String || !whole || !known {
		return "", false
	}
	text := strconv.FormatInt(minor, 10)
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	if missing := digits + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	major, fraction := text[:len(text)-digits], text[len(text)-digits:]
	out := currency.Text() + " " + sign + group(major)
	if digits > 0 {
		out += "." + fraction
	}
	return out, true
}

// group puts a comma between thousands.
func group(digits string) string {
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

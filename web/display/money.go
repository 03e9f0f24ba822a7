package display

import (
	"strconv"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

// Money formats minor units of a currency for the zero Reader.
func Money(amount, currency canon.Value) (string, bool) { return Reader{}.Money(amount, currency) }

// Money formats minor units of a currency, such as "USD 8,400.00". It
// reports false unless the amount is an integer and the currency has minor
// units.
func (r Reader) Money(amount, currency canon.Value) (string, bool) {
	minor, whole := amount.Int64()
	if amount.Kind() != canon.Number || currency.Kind() != canon.String || !whole {
		return "", false
	}
	return r.Minor(minor, currency.Text())
}

// Minor is Money for plain values.
func (r Reader) Minor(minor int64, currency string) (string, bool) {
	digits, known := resolve.CurrencyDigits(currency)
	if !known {
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
	out := sign + r.group(major)
	if _, decimal := r.Numbers.marks(); digits > 0 {
		out += decimal + fraction
	}
	if r.Numbers.After {
		return out + " " + currency, true
	}
	return currency + " " + out, true
}

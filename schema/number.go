package schema

import (
	"math/big"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// decimal is the exact value of one JSON number: ±digits × 10^exp. Digits
// have neither leading nor trailing zeros; zero has none at all. The texts
// come from canon, so there are at most 21 digits and |exp| < 400.
type decimal struct {
	neg    bool
	n      int
	digits [32]byte
	exp    int
}

// parseDecimal reads RFC 8785 number text. ok is false for anything longer or
// different, which canon never makes.
func parseDecimal(text string) (d decimal, ok bool) {
	if strings.HasPrefix(text, "-") {
		d.neg, text = true, text[1:]
	}
	mantissa, exponent, hasExp := strings.Cut(text, "e")
	if hasExp && !readExponent(exponent, &d.exp) {
		return decimal{}, false
	}
	fraction := false
	for i := 0; i < len(mantissa); i++ {
		c := mantissa[i]
		switch {
		case c == '.' && !fraction:
			fraction = true
			continue
		case c < '0' || c > '9' || d.n == len(d.digits):
			return decimal{}, false
		}
		if fraction {
			d.exp--
		}
		if d.n > 0 || c != '0' {
			d.digits[d.n] = c
			d.n++
		}
	}
	d.trim()
	return d, mantissa != ""
}

func readExponent(text string, exp *int) bool {
	neg := strings.HasPrefix(text, "-")
	text = strings.TrimLeft(text, "+-")
	if text == "" || len(text) > 4 {
		return false
	}
	for i := 0; i < len(text); i++ {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
		*exp = *exp*10 + int(text[i]-'0')
	}
	if neg {
		*exp = -*exp
	}
	return true
}

func (d *decimal) trim() {
	for d.n > 0 && d.digits[d.n-1] == '0' {
		d.n--
		d.exp++
	}
	if d.n == 0 {
		d.neg, d.exp = false, 0
	}
}

// integral reports whether the value is an integer ("1.0" is one).
func (d *decimal) integral() bool { return d.exp >= 0 }

func (d *decimal) sign() int {
	switch {
	case d.n == 0:
		return 0
	case d.neg:
		return -1
	default:
		return 1
	}
}

// compare returns -1, 0 or 1 as a is less than, equal to or above b.
func (a *decimal) compare(b *decimal) int {
	if a.sign() != b.sign() {
		return order(a.sign(), b.sign())
	}
	size := order(a.n+a.exp, b.n+b.exp)
	if size == 0 {
		// The digits have the same weight, and no trailing zeros.
		size = strings.Compare(string(a.digits[:a.n]), string(b.digits[:b.n]))
	}
	if a.neg {
		return -size
	}
	return size
}

func order(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// multipleOf reports whether d is an integer times step; step is above 0.
// Both have under 32 digits and |exp| < 400, so the integers stay small.
func (d *decimal) multipleOf(step *decimal) bool {
	if d.n == 0 {
		return true
	}
	low := min(d.exp, step.exp)
	a, b := d.scaled(low), step.scaled(low)
	return a.Rem(a, b).Sign() == 0
}

func (d *decimal) scaled(exp int) *big.Int {
	v, _ := new(big.Int).SetString(string(d.digits[:d.n]), 10)
	if v == nil {
		return new(big.Int)
	}
	shift := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.exp-exp)), nil)
	return v.Mul(v, shift)
}

// integral reports whether v is a number with an integral value.
func integral(v canon.Value) bool {
	text := v.NumberText()
	if _, plain := smallInteger(text); plain {
		return true
	}
	d, ok := parseDecimal(text)
	return ok && d.integral()
}

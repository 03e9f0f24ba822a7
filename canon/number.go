package canon

import (
	"math"
	"strconv"
)

// MaxNumberBytes is the longest number literal. Every double in its shortest
// plain notation fits, and the cost of one number stays bounded.
const MaxNumberBytes = 512

// ParseNumber reads one JSON number literal (RFC 8259 §6) and nothing else.
// The error is a [Violations] with an offset into text. With exact the rules
// of Options.Exact apply.
func ParseNumber(text string, exact bool) (Value, error) {
	d := scanner{s: text, opt: Options{Exact: exact}, all: true}
	v, ok := d.number()
	if ok && d.pos != len(text) {
		d.refuse(d.pos, RuleSyntax)
	}
	if len(d.found) > 0 {
		return Value{}, d.found
	}
	return v, nil
}

// FloatValue returns the number f. NaN, infinities and -0 have no canonical
// form and are refused with a [Violations].
func FloatValue(f float64) (Value, error) {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return Value{}, Refuse("", RuleNumberOverflow, "a finite number")
	case f == 0 && math.Signbit(f):
		return Value{}, Refuse("", RuleNegativeZero, expected[RuleNegativeZero])
	}
	var buf [maxNumberText]byte
	return numberValue(string(appendFloat(buf[:0], f))), nil
}

// number scans the literal at pos and moves pos behind it.
func (d *scanner) number() (Value, bool) {
	start := d.pos
	plain, ok := d.scanLiteral()
	if !ok {
		return Value{}, false
	}
	lit := d.s[start:d.pos]
	if plain && len(lit) <= sureDigits && lit != "-0" {
		return numberValue(lit), true
	}
	if len(lit) > MaxNumberBytes {
		return Value{}, d.refuse(start, RuleNumberLength)
	}
	text, rule := canonicalNumber(lit, d.opt.Exact)
	if rule != "" {
		return Value{}, d.refuse(start, rule)
	}
	return numberValue(text), true
}

// scanLiteral scans number = [ minus ] int [ frac ] [ exp ]. plain tells that
// there is neither frac nor exp.
func (d *scanner) scanLiteral() (plain, ok bool) {
	if d.peek() == '-' {
		d.pos++
	}
	first := d.pos
	if !d.digits() {
		return false, false
	}
	if d.s[first] == '0' && d.pos > first+1 {
		return false, d.refuse(first, RuleSyntax)
	}
	plain = true
	if d.peek() == '.' {
		plain = false
		d.pos++
		if !d.digits() {
			return false, false
		}
	}
	if c := d.peek(); c == 'e' || c == 'E' {
		plain = false
		d.pos++
		if c := d.peek(); c == '+' || c == '-' {
			d.pos++
		}
		if !d.digits() {
			return false, false
		}
	}
	return plain, true
}

// digits moves pos over at least one digit.
func (d *scanner) digits() bool {
	start := d.pos
	for d.pos < len(d.s) && d.s[d.pos]-'0' <= 9 {
		d.pos++
	}
	if d.pos == start {
		return d.unexpected()
	}
	return true
}

// canonicalNumber returns the RFC 8785 form of a valid literal, or the rule
// that it breaks.
func canonicalNumber(lit string, exact bool) (text, rule string) {
	dec, rule := canonicalDecimal(lit, exact)
	if rule != "" {
		return "", rule
	}
	var buf [maxNumberText]byte
	out := dec.appendTo(buf[:0])
	if string(out) == lit {
		return lit, ""
	}
	return string(out), ""
}

// canonicalDecimal returns the shortest decimal of the double that a valid
// literal names, or the rule that it breaks.
func canonicalDecimal[T text](lit T, exact bool) (dec decimal, rule string) {
	dec = parseDecimal(lit)
	if rule := dec.outOfRange(exact); rule != "" || dec.sure() {
		return dec, rule
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	switch {
	case err != nil: // the syntax is right, so it is the range
		return dec, RuleNumberOverflow
	case f == 0:
		return dec, RuleNumberUnderflow
	}
	shortest := floatDecimal(f)
	if exact && shortest != dec {
		return dec, RuleNumberInexact
	}
	return shortest, ""
}

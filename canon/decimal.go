package canon

import "strconv"

const (
	// sureDigits is how many significant decimal digits every normal double
	// keeps (DBL_DIG): such a decimal is the shortest form of its double.
	sureDigits = 15
	// sureExp keeps point within the normal doubles on both sides.
	sureExp = 300
	// shortDigits is the longest shortest form of a double.
	shortDigits = 17
	// 0.1 * 10^309 fits a double and 0.1 * 10^310 does not; anything below
	// 10^-324 is nearer to zero than to the smallest double.
	maxPoint = 309
	minPoint = -323
	// maxNumberText is the longest RFC 8785 number: a sign, 0.00000 and 17
	// digits.
	maxNumberText = 32
	// farExponent stands for every larger exponent: the digits of a literal
	// cannot bring it back into range.
	farExponent = 1_000_000
	// safeDigits has as many digits as the largest safe integer.
	safeText = "9007199254740991"
)

// decimal is the number 0.d1d2d3... * 10^point with no zero at either end of
// the digits; zero has no digits. Digits after the first 18 are counted only:
// no double needs more than 17.
type decimal struct {
	digits [shortDigits + 1]byte
	count  int
	point  int
	neg    bool
}

// text is what the functions that tree and text share read from.
type text interface{ string | []byte }

// parseDecimal reads a valid JSON number literal.
func parseDecimal[T text](lit T) decimal {
	var d decimal
	dot, last := false, 0
	for i := 0; i < len(lit); i++ {
		switch c := lit[i]; {
		case c == '-':
			d.neg = true
		case c == '.':
			dot = true
		case c == 'e' || c == 'E':
			d.trim(last)
			d.shift(readExponent(lit[i+1:]))
			return d
		case c == '0' && d.count == 0:
			if dot {
				d.point--
			}
		default:
			if !dot {
				d.point++
			}
			d.push(c)
			if c != '0' {
				last = d.count
			}
		}
	}
	d.trim(last)
	return d
}

func (d *decimal) push(c byte) {
	if d.count < len(d.digits) {
		d.digits[d.count] = c
	}
	d.count++
}

// trim drops the digits after the first count of them, which are zeros.
func (d *decimal) trim(count int) {
	d.count = count
	if count < len(d.digits) {
		clear(d.digits[count:])
	}
	if count == 0 {
		d.point = 0
	}
}

// shift multiplies by 10 to the power of exp.
func (d *decimal) shift(exp int) {
	if d.count > 0 {
		d.point += exp
	}
}

// readExponent reads digits with an optional sign.
func readExponent[T text](exp T) int {
	n, neg := 0, false
	for i := 0; i < len(exp); i++ {
		switch c := exp[i]; c {
		case '+':
		case '-':
			neg = true
		default:
			n = min(n*10+int(c-'0'), farExponent)
		}
	}
	if neg {
		return -n
	}
	return n
}

// outOfRange returns the rule that the decimal value breaks whatever the
// nearest double is.
func (d *decimal) outOfRange(exact bool) string {
	switch {
	case d.count == 0 && d.neg:
		return RuleNegativeZero
	case d.count == 0:
		return ""
	case d.point > maxPoint:
		return RuleNumberOverflow
	case d.point < minPoint:
		return RuleNumberUnderflow
	case !exact:
		return ""
	case d.unsafe():
		return RuleUnsafeInteger
	case d.count > shortDigits:
		return RuleNumberInexact
	default:
		return ""
	}
}

// unsafe reports whether d is an integer beyond ±(2^53-1).
func (d *decimal) unsafe() bool {
	if d.count > d.point || d.point < len(safeText) {
		return false // has a fraction, or is short
	}
	if d.point > len(safeText) {
		return true
	}
	return string(d.digits[:d.count]) > safeText // zeros at the end do not make it larger
}

// sure reports whether d is the shortest form of the double nearest to it.
func (d *decimal) sure() bool {
	return d.count <= sureDigits && -sureExp <= d.point && d.point <= sureExp
}

// floatDecimal returns the shortest decimal that reads back as f.
func floatDecimal(f float64) decimal {
	var buf [maxNumberText]byte
	text := strconv.AppendFloat(buf[:0], f, 'e', -1, 64)
	var d decimal
	i := 0
	if text[0] == '-' {
		d.neg = true
		i++
	}
	for ; text[i] != 'e'; i++ {
		if text[i] != '.' {
			d.push(text[i])
		}
	}
	if d.digits[0] == '0' {
		return decimal{neg: d.neg}
	}
	d.point = 1
	d.shift(readExponent(text[i+1:]))
	return d
}

func appendFloat(dst []byte, f float64) []byte {
	d := floatDecimal(f)
	return d.appendTo(dst)
}

// appendTo writes the number as ECMAScript does (RFC 8785 §3.2.2.3, ECMA-262
// Number::toString with radix 10). k and n are the names used there.
func (d *decimal) appendTo(dst []byte) []byte {
	k, n := d.count, d.point
	digits := d.digits[:k]
	if d.neg {
		dst = append(dst, '-')
	}
	switch {
	case k == 0:
		return append(dst, '0')
	case k <= n && n <= 21:
		return appendZeros(append(dst, digits...), n-k)
	case 0 < n && n <= 21:
		dst = append(dst, digits[:n]...)
		dst = append(dst, '.')
		return append(dst, digits[n:]...)
	case -6 < n && n <= 0:
		dst = appendZeros(append(dst, '0', '.'), -n)
		return append(dst, digits...)
	}
	dst = append(dst, digits[0])
	if k > 1 {
		dst = append(dst, '.')
		dst = append(dst, digits[1:]...)
	}
	dst = append(dst, 'e')
	if n > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(n-1), 10)
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

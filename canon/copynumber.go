package canon

import "encoding/binary"

// number writes the literal at p in its RFC 8785 form.
func (d *Decoder) number(p, o int) (int, int) {
	src, start := d.src, p
	if src[p] == '-' {
		p++
	}
	first := p
	p = digits(src, p)
	count := p - first
	if count == 0 || count > 1 && src[first] == '0' {
		return fault, o
	}
	asWritten := src[first] != '0' || p-start == 1 // not 0.0001 or -0
	if p < len(src) && src[p] == '.' {
		p = digits(src, p+1)
		if src[p-1] == '.' {
			return fault, o
		}
		count = p - first - 1
		// 0.1 to 0.9..., if no zero is at the end.
		asWritten = (src[first] != '0' || src[first+2] != '0') && src[p-1] != '0'
	}
	if p < len(src) && src[p]|0x20 == 'e' {
		asWritten = false
		if p = exponent(src, p+1); p == fault {
			return fault, o
		}
	}
	if asWritten && count <= sureDigits {
		if n := p - start; n <= 16 && len(src)-start >= 16 {
			low, high := binary.LittleEndian.Uint64(src[start:]), binary.LittleEndian.Uint64(src[start+8:])
			binary.LittleEndian.PutUint64(d.out[o:], low)
			binary.LittleEndian.PutUint64(d.out[o+8:], high)
			return p, o + n
		}
		return p, o + copy(d.out[o:], src[start:p])
	}
	return d.reprint(start, p, o)
}

// digits returns the place behind the digits at p.
func digits(src []byte, p int) int {
	for p < len(src) && src[p]-'0' <= 9 {
		p++
	}
	return p
}

// exponent returns the place behind the exponent whose sign or first digit is
// at p.
func exponent(src []byte, p int) int {
	if p < len(src) && (src[p] == '+' || src[p] == '-') {
		p++
	}
	if end := digits(src, p); end > p {
		return end
	}
	return fault
}

// reprint writes the literal from start to p as the double that it names.
func (d *Decoder) reprint(start, p, o int) (int, int) {
	lit := d.src[start:p]
	if len(lit) > MaxNumberBytes {
		return fault, o
	}
	dec, rule := canonicalDecimal(lit, d.exact)
	if rule != "" {
		return fault, o
	}
	o = len(dec.appendTo(d.out[:o]))
	d.room(p, o)
	return p, o
}

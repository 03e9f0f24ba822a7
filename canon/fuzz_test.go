package canon_test

import (
	"bytes"
	"math"
	"strconv"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
)

// FuzzDecode holds every text against the other implementations and against
// the promises of the package.
func FuzzDecode(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		compare(t, raw)
		v, err := canon.Decode(raw, strict)
		if err != nil {
			if rule(err) == "" {
				t.Fatalf("%q: an error without a rule: %v", raw, err)
			}
			return
		}
		if err := canon.CheckWithin(v, strict); err != nil {
			t.Fatalf("%q: decoded to what Check refuses: %v", raw, err)
		}
		form := v.Canonical()
		again, err := canon.Decode(form, strict)
		if err != nil || !canon.Equal(v, again) || !bytes.Equal(form, again.Canonical()) {
			t.Fatalf("%q: the canonical form %s is no fixed point: %v", raw, form, err)
		}
		if plain := byHand(v).Canonical(); !bytes.Equal(form, plain) {
			t.Fatalf("%q: decoded it is written as %s, built by hand as %s", raw, form, plain)
		}
		if quoted := canon.AppendQuoted(nil, string(form)); !bytes.Equal(quoted, canon.StringValue(string(form)).Canonical()) {
			t.Fatalf("%q: the canonical form is quoted as %s", raw, quoted)
		}
	})
}

// byHand builds v again, without what the decoder knows about it.
func byHand(v canon.Value) canon.Value {
	switch v.Kind() {
	case canon.String:
		return canon.StringValue(v.Text())
	case canon.Array:
		elems := v.Elements()
		for i := range elems {
			elems[i] = byHand(elems[i])
		}
		return canon.ArrayValue(elems...)
	case canon.Object:
		members := v.Members()
		for i := range members {
			members[i].Value = byHand(members[i].Value)
		}
		return canon.ObjectValue(members...)
	default:
		return v
	}
}

// FuzzNumber holds every literal against the double that it names.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0", "1e20", "9007199254740993", "0.1", "5e-324", "1.7976931348623157e308",
		"123456789012345678901234567890e-20", "0.000001", "1e-7", "1e21", "00", "1."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := canon.ParseNumber(text, false)
		if err != nil {
			return
		}
		want, err := strconv.ParseFloat(text, 64)
		if err != nil || v.Float64() != want {
			t.Fatalf("%s is %v, read as %s", text, want, v.NumberText())
		}
		printed, err := canon.FloatValue(want)
		if err != nil || printed.NumberText() != v.NumberText() {
			t.Fatalf("%s prints as %s and as %s", text, v.NumberText(), printed.NumberText())
		}
		if want == 0 {
			return // the arithmetic of the test does not take its exponents
		}
		_, err = canon.ParseNumber(text, true)
		if isExact := sameDecimal(t, text, v.NumberText()); err == nil && !isExact {
			t.Fatalf("%s is not %s and passes as exact", text, v.NumberText())
		}
		if err == nil && math.Abs(want) > canon.MaxSafeInteger {
			t.Fatalf("%s is unsafe and passes as exact", text)
		}
	})
}

// FuzzFloat prints any bits and reads them back.
func FuzzFloat(f *testing.F) {
	for _, u := range []uint64{0, 1 << 63, 1, 0x7fefffffffffffff, 0x444b1ae4d6e2ef50, 0x3eb0c6f7a0b5ed8d, 0x7ff0000000000000} {
		f.Add(u)
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		want := math.Float64frombits(bits)
		v, err := canon.FloatValue(want)
		if refused := math.IsNaN(want) || math.IsInf(want, 0) || bits == 1<<63; refused != (err != nil) {
			t.Fatalf("%x: %v", bits, err)
		}
		if err == nil && math.Float64bits(v.Float64()) != bits {
			t.Fatalf("%x prints as %s", bits, v.NumberText())
		}
	})
}

package schema

import (
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// itself judges what q says about the value, not about what is in it.
func (w *quickWalk) itself(q *quick, v canon.Value, kind canon.Kind) bool {
	if q.types != 0 && q.kinds>>kind&1 == 0 && !q.types.has(v) {
		return false
	}
	if q.enum != nil && !w.listed(q.enum, v) || q.any != nil && !w.some(q.any, v, kind) {
		return false
	}
	switch kind {
	case canon.String:
		return q.set.admits(v.Text()) && w.text(q, v.Text())
	case canon.Number:
		return q.set == nil && (q.num == nil || q.num.holds(v))
	default:
		return q.set == nil
	}
}

func (w *quickWalk) listed(enum []canon.Value, v canon.Value) bool {
	for i := range enum {
		if enum[i].Kind() == v.Kind() && w.spend(v.Len()) && canon.Equal(enum[i], v) {
			return true
		}
	}
	return false
}

// some reports whether one of the alternatives accepts a scalar.
func (w *quickWalk) some(list []*quick, v canon.Value, kind canon.Kind) bool {
	for _, q := range list {
		w.spend(1)
		if w.itself(q, v, kind) {
			return true
		}
	}
	return false
}

func (w *quickWalk) text(q *quick, s string) bool {
	if q.str != nil {
		if !w.length(q.str, s) {
			return false
		}
		if p := q.str.pattern; p != nil && !(w.spend(len(s)*p.size/64) && p.matches(s)) {
			return false
		}
	}
	return q.format == nil || w.spend(len(s)/64) && q.format(s)
}

// length counts characters only where the bytes leave it open.
func (w *quickWalk) length(rules *stringRules, s string) bool {
	if rules.min <= len(s)/utf8.UTFMax && (rules.max < 0 || len(s) <= rules.max) {
		return true
	}
	if !w.spend(len(s) / 64) {
		return false
	}
	n := utf8.RuneCountInString(s)
	return n >= rules.min && (rules.max < 0 || n <= rules.max)
}

func (n *quickNumber) holds(v canon.Value) bool {
	if n.whole {
		if i, ok := smallInteger(v.NumberText()); ok {
			return n.low <= i && i <= n.high
		}
	}
	d, ok := parseDecimal(v.NumberText())
	for i := range n.rules.bounds {
		ok = ok && n.rules.bounds[i].admits(&d)
	}
	return ok && (n.rules.multiple == nil || d.multipleOf(n.rules.multiple))
}

// smallInteger reads an integer that is written plainly and fits.
func smallInteger(text string) (int64, bool) {
	neg := text != "" && text[0] == '-'
	if neg {
		text = text[1:]
	}
	if text == "" || len(text) > len("9007199254740991") {
		return 0, false
	}
	var i int64
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		i = i*10 + int64(c-'0')
	}
	if neg {
		i = -i
	}
	return i, true
}

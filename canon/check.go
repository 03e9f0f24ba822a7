package canon

import (
	"strings"
	"unicode/utf8"
)

// Check verifies a tree that was built by hand: every value has a kind, text
// and names are valid UTF-8, names are unique, numbers obey Options.Exact,
// and the default depth and number of values hold. Whatever Check accepts,
// AppendTo writes without loss and Decode reads back equal. The error is a
// [Violations].
func Check(v Value) error { return CheckWithin(v, Options{Exact: true}) }

// CheckWithin is Check with the depth, number of values and rules of opt; the
// size of the text is not checked. The error is a [Violations], or wraps
// ErrOptions.
func CheckWithin(v Value, opt Options) error {
	if err := opt.Check(); err != nil {
		return err
	}
	opt = opt.withDefaults()
	if v.Kind() >= Array && v.kids.within(opt) {
		return nil
	}
	d := scanner{opt: opt}
	if d.check(v) {
		return nil
	}
	again := scanner{opt: d.opt, all: true}
	again.check(v)
	return again.found
}

// noOffset marks a violation in a value that has no text.
const noOffset = -1

func (d *scanner) check(v Value) bool {
	if d.nodes++; d.nodes > d.opt.MaxNodes {
		return d.refuse(noOffset, RuleNodes)
	}
	switch v.Kind() {
	case Null, Bool:
		return true
	case Number:
		return d.checkNumber(v.text)
	case String:
		return d.sound || v.kids.trust == exact || utf8.ValidString(v.text) || d.refuse(noOffset, RuleInvalidUTF8)
	case Array, Object:
		if d.covers(&v.kids.extent) {
			d.nodes += int(v.kids.nodes) - 1
			return true
		}
		if d.depth++; d.depth > d.opt.MaxDepth {
			return d.refuse(noOffset, RuleDepth)
		}
		was := d.sound
		d.sound = was || v.Decoded()
		ok := d.checkElements(v.elems()) && d.checkMembers(v.members())
		d.sound = was
		d.depth--
		return ok
	default:
		return d.refuse(noOffset, RuleInvalidValue)
	}
}

// within is covers for a whole tree.
func (e *extent) within(opt Options) bool {
	need := sound
	if opt.Exact {
		need = exact
	}
	return e.trust >= need && !opt.FoldTwins && int(e.nodes) <= opt.MaxNodes && int(e.height) <= opt.MaxDepth
}

// covers reports that a walk through what has this extent would find nothing.
// Where it would, the walk has to tell where.
func (d *scanner) covers(e *extent) bool {
	left := d.opt
	left.MaxNodes -= d.nodes - 1
	left.MaxDepth -= d.depth
	return e.within(left)
}

// sureInteger reports a short integer: the text of a number is in its RFC 8785
// form.
func sureInteger(text string) bool {
	return len(text) <= sureDigits && strings.IndexByte(text, '.') < 0 && strings.IndexByte(text, 'e') < 0
}

// checkNumber passes short integers at once: only this package writes the text
// of a number, in its RFC 8785 form.
func (d *scanner) checkNumber(text string) bool {
	if sureInteger(text) {
		return true
	}
	_, rule := canonicalNumber(text, d.opt.Exact)
	return rule == "" || d.refuse(noOffset, rule)
}

func (d *scanner) checkElements(elems []Value) bool {
	for i := range elems {
		d.enter(token{index: i})
		if !d.check(elems[i]) {
			return false
		}
		d.leave()
	}
	return true
}

func (d *scanner) checkMembers(members []Member) bool {
	var seen names
	for i := range members {
		name := members[i].Name
		if !d.sound && !utf8.ValidString(name) {
			return d.refuse(noOffset, RuleInvalidUTF8)
		}
		d.enter(token{name: name, index: -1})
		if !d.sound || d.opt.FoldTwins {
			rule := d.twins.add(&seen, members[:i], name, d.opt.FoldTwins)
			if rule != "" && !d.refuse(noOffset, rule) {
				return false
			}
		}
		if !d.check(members[i].Value) {
			return false
		}
		d.leave()
	}
	return true
}

package canon

import "unicode/utf8"

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
	d := scanner{opt: opt.withDefaults(), all: true}
	d.check(v)
	if len(d.found) > 0 {
		return d.found
	}
	return nil
}

// noOffset marks a violation in a value that has no text.
const noOffset = -1

func (d *scanner) check(v Value) bool {
	if d.nodes++; d.nodes > d.opt.MaxNodes {
		return d.refuse(noOffset, RuleNodes)
	}
	switch v.kind {
	case Null, Bool:
		return true
	case Number:
		_, rule := canonicalNumber(v.text, d.opt.Exact)
		return rule == "" || d.refuse(noOffset, rule)
	case String:
		return utf8.ValidString(v.text) || d.refuse(noOffset, RuleInvalidUTF8)
	case Array, Object:
		if d.depth++; d.depth > d.opt.MaxDepth {
			return d.refuse(noOffset, RuleDepth)
		}
		ok := d.checkElements(v.elems()) && d.checkMembers(v.members())
		d.depth--
		return ok
	default:
		return d.refuse(noOffset, RuleInvalidValue)
	}
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
		if !utf8.ValidString(name) {
			return d.refuse(noOffset, RuleInvalidUTF8)
		}
		d.enter(token{name: name, index: -1})
		rule := d.twins.add(&seen, members[:i], name, d.opt.FoldTwins)
		if rule != "" && !d.refuse(noOffset, rule) || !d.check(members[i].Value) {
			return false
		}
		d.leave()
	}
	return true
}

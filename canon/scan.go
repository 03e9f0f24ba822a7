package canon

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// scanner reads one value from s in a single pass. Every function that
// returns ok false has called refuse before.
//
// The first pass stops at the first fault and does not know where it is. Only
// then a second one tells the places: all is set, at is kept, and faults that
// leave the structure clear are passed over.
type scanner struct {
	s     string
	pos   int
	opt   Options
	nodes int
	depth int
	// reached is the deepest depth since the innermost open container began,
	// and trust what is known of the values.
	reached int
	trust   trust
	// dirty is set if s holds invalid UTF-8 somewhere; otherwise strings
	// need no check of their own.
	dirty bool
	// bare is set if s holds no backslash: all that its strings hold is written
	// as it stands, for quotes and control characters need one.
	bare bool
	// elems and members are stacks shared by the open containers.
	elems   []Value
	members []Member
	// inTree tells that members is a part of the tree, long enough for all of
	// it: every member has a colon. spare is the stack for other texts.
	inTree bool
	spare  []Member
	mem    memory
	twins  twins
	buf    []byte
	// jumbled is above the index of the first member of every open object whose
	// names are not in order.
	jumbled int

	// sound is set inside of what Decode has made, where [Check] need not look
	// at text and names again.
	sound bool

	all   bool
	at    []token // of the open containers, outermost first
	found Violations
}

// refuse reports whether to go on after a fault.
func (d *scanner) refuse(offset int, rule string) bool {
	if !d.all {
		return false
	}
	d.found = append(d.found, Violation{
		Pointer:  d.pointer(),
		Rule:     rule,
		Expected: expected[rule],
		Offset:   offset,
	})
	return passable[rule] && len(d.found) < MaxViolations
}

// enter and leave keep the place.
func (d *scanner) enter(t token) {
	if d.all {
		d.at = append(d.at, t)
	}
}

func (d *scanner) leave() {
	if d.all {
		d.at = d.at[:len(d.at)-1]
	}
}

// unexpected refuses the byte at pos, or the end.
func (d *scanner) unexpected() bool {
	if d.pos >= len(d.s) {
		return d.refuse(len(d.s), RuleTruncated)
	}
	if d.dirty && d.s[d.pos] >= utf8.RuneSelf {
		if r, n := utf8.DecodeRuneInString(d.s[d.pos:]); r == utf8.RuneError && n <= 1 {
			return d.refuse(d.pos, RuleInvalidUTF8)
		}
	}
	return d.refuse(d.pos, RuleSyntax)
}

// peek returns the byte at pos; 0, which starts nothing in JSON, at the end.
func (d *scanner) peek() byte {
	if d.pos < len(d.s) {
		return d.s[d.pos]
	}
	return 0
}

// space moves pos over white space (RFC 8259 §2).
func (d *scanner) space() {
	for d.pos < len(d.s) {
		c := d.s[d.pos]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return
		}
		d.pos++
	}
}

func (d *scanner) value() (Value, bool) {
	if d.nodes++; d.nodes > d.opt.MaxNodes {
		return Value{}, d.refuse(d.pos, RuleNodes)
	}
	switch c := d.peek(); c {
	case '"':
		s, ok := d.text()
		if d.bare {
			return bareValue(s), ok
		}
		return validValue(s), ok
	case '{':
		return d.object()
	case '[':
		return d.array()
	case 't':
		return d.word("true", boolValue("true"))
	case 'f':
		return d.word("false", boolValue("false"))
	case 'n':
		return d.word("null", nullValue())
	default:
		if c == '-' || c-'0' <= 9 {
			return d.number()
		}
		return Value{}, d.unexpected()
	}
}

func (d *scanner) word(word string, v Value) (Value, bool) {
	rest := d.s[d.pos:]
	if strings.HasPrefix(rest, word) {
		d.pos += len(word)
		return v, true
	}
	if strings.HasPrefix(word, rest) {
		return Value{}, d.refuse(len(d.s), RuleTruncated)
	}
	return Value{}, d.refuse(d.pos, RuleSyntax)
}

// open enters a container whose first byte is at pos and reports whether it
// is empty.
func (d *scanner) open(end byte) (empty, ok bool) {
	if d.depth++; d.depth > d.opt.MaxDepth {
		return false, d.refuse(d.pos, RuleDepth)
	}
	d.pos++
	d.space()
	if d.peek() != end {
		return false, true
	}
	d.pos++
	d.depth--
	return true, true
}

// next reads the comma or the end of a container after one of its values.
func (d *scanner) next(end byte) (more, ok bool) {
	c := d.peek()
	if c <= ' ' {
		d.space()
		c = d.peek()
	}
	switch c {
	case ',':
		d.step()
		return true, true
	case end:
		d.pos++
		d.depth--
		return false, true
	default:
		return false, d.unexpected()
	}
}

// fresh begins to measure a container, seal writes it down.
func (d *scanner) fresh() extentSoFar {
	outer := extentSoFar{d.nodes, d.reached}
	d.reached = d.depth + 1
	return outer
}

// extentSoFar is what was measured before a container.
type extentSoFar struct{ nodes, reached int }

func (d *scanner) seal(kids *children, kind Kind, outer extentSoFar) Value {
	kids.kind = kind
	if d.bare {
		kids.form = bare
	}
	kids.extent = extent{int32(d.nodes - outer.nodes + 1), int16(d.reached - d.depth), d.trust}
	d.reached = max(d.reached, outer.reached)
	return Value{kids: kids}
}

func (d *scanner) array() (Value, bool) {
	outer := d.fresh()
	empty, ok := d.open(']')
	if empty || !ok {
		d.reached = max(d.reached, outer.reached)
		return emptyArray(), ok
	}
	base := len(d.elems)
	for {
		d.enter(token{index: len(d.elems) - base})
		v, ok := d.value()
		if !ok {
			return Value{}, false
		}
		d.leave()
		if len(d.elems) == cap(d.elems) {
			d.elems = roomFor(d.elems, d.mem.moreElems)
		}
		d.elems = append(d.elems, v)
		more, ok := d.next(']')
		if !ok {
			return Value{}, false
		}
		if !more {
			break
		}
	}
	if d.depth == 0 && handsOver(d.elems) {
		kids := &children{elems: d.elems}
		d.elems = nil
		return d.seal(kids, Array, outer), true
	}
	kids := d.mem.keepElems(d.elems[base:])
	d.elems = d.elems[:base]
	return d.seal(kids, Array, outer), true
}

func (d *scanner) object() (Value, bool) {
	outer := d.fresh()
	empty, ok := d.open('}')
	if empty || !ok {
		d.reached = max(d.reached, outer.reached)
		return emptyObject(), ok
	}
	base := len(d.members)
	var seen names
	for {
		if !d.member(base, &seen) {
			return Value{}, false
		}
		more, ok := d.next('}')
		if !ok {
			return Value{}, false
		}
		if !more {
			break
		}
	}
	members := d.members[base:]
	if !d.all && len(members) > fewNames && d.twins.among(members, d.opt.FoldTwins) {
		return Value{}, false
	}
	if d.depth == 0 && (d.inTree || handsOver(d.members)) {
		kids := d.mem.container()
		kids.members = slices.Clip(members)
		d.members = nil
		return d.seal(kids, Object, outer), true
	}
	if d.inTree {
		rest, kids := d.mem.keepBehind(d.members, base)
		d.members = rest
		return d.seal(kids, Object, outer), true
	}
	kids := d.mem.keepMembers(members)
	d.members = d.members[:base]
	return d.seal(kids, Object, outer), true
}

// member reads one name and value of the object whose members start at base.
func (d *scanner) member(base int, seen *names) bool {
	start := d.pos
	if d.peek() != '"' {
		return d.unexpected()
	}
	name, ok := d.text()
	if !ok {
		return false
	}
	d.enter(token{name: name, index: -1})
	if (d.all || len(d.members)-base < fewNames) && !d.ascends(base, name) {
		if !d.opt.FoldTwins && !d.all {
			seen.ends = ^uint64(0) // those that were in order have not been noted
		}
		rule := d.twins.add(seen, d.members[base:], name, d.opt.FoldTwins)
		if rule != "" && !d.refuse(start, rule) {
			return false
		}
	}
	if d.peek() == ':' {
		d.step()
	} else if !d.colon() {
		return false
	}
	at := len(d.members)
	if at == cap(d.members) {
		d.members = roomFor(d.members, d.mem.moreMembers)
	}
	// What stands there is from another object, until the value is read.
	d.members = d.members[:at+1]
	d.members[at].Name = name
	v, ok := d.value()
	if !ok {
		return false
	}
	d.leave()
	// What the value has put on the stack is gone again: the member is last.
	d.members[at].Value = v
	return true
}

// ascends reports that name cannot be that of a member before it, for they are
// in the order of their bytes so far, as almost always in a canonical text. It
// says nothing about names that differ in case.
func (d *scanner) ascends(base int, name string) bool {
	if d.opt.FoldTwins || d.all || d.jumbled > base {
		return false
	}
	if last := len(d.members) - 1; last >= base && d.members[last].Name >= name {
		d.jumbled = base + 1
		return false
	}
	return true
}

// step moves pos over the byte there and the white space behind it.
func (d *scanner) step() {
	if d.pos++; d.pos < len(d.s) && d.s[d.pos] <= ' ' {
		d.space()
	}
}

// colon moves pos over the colon behind a name.
func (d *scanner) colon() bool {
	d.space()
	if d.peek() != ':' {
		return d.unexpected()
	}
	d.pos++
	d.space()
	return true
}

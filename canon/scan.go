package canon

import (
	"strings"
	"unicode/utf8"
)

// scanner reads one value from s in a single pass. Every function that
// returns ok false has called refuse before; the callers on the way out add
// their part of the pointer.
type scanner struct {
	s     string
	pos   int
	opt   Options
	nodes int
	depth int
	// dirty is set if s holds invalid UTF-8 somewhere; otherwise strings
	// need no check of their own.
	dirty bool
	// elems and members are stacks shared by the open containers.
	elems   []Value
	members []Member
	mem     memory
	twins   twins
	buf     []byte

	rule   string
	offset int
	path   []token // innermost first
}

// token is one reference token of the pointer of an error.
type token struct {
	name  string
	index int // -1 for a member
}

func (d *scanner) refuse(offset int, rule string) bool {
	d.rule, d.offset = rule, offset
	return false
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
		return Value{kind: String, text: s}, ok
	case '{':
		return d.object()
	case '[':
		return d.array()
	case 't':
		return d.word("true", Value{kind: Bool, text: "true"})
	case 'f':
		return d.word("false", Value{kind: Bool, text: "false"})
	case 'n':
		return d.word("null", Value{kind: Null})
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
	d.space()
	switch d.peek() {
	case ',':
		d.pos++
		d.space()
		return true, true
	case end:
		d.pos++
		d.depth--
		return false, true
	default:
		return false, d.unexpected()
	}
}

func (d *scanner) array() (Value, bool) {
	empty, ok := d.open(']')
	if empty || !ok {
		return Value{kind: Array}, ok
	}
	base := len(d.elems)
	for {
		v, ok := d.value()
		if !ok {
			d.path = append(d.path, token{index: len(d.elems) - base})
			return Value{}, false
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
	kids := d.mem.keepElems(d.elems[base:])
	d.elems = d.elems[:base]
	return Value{kind: Array, kids: kids}, true
}

func (d *scanner) object() (Value, bool) {
	empty, ok := d.open('}')
	if empty || !ok {
		return Value{kind: Object}, ok
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
	kids := d.mem.keepMembers(d.members[base:])
	d.members = d.members[:base]
	return Value{kind: Object, kids: kids}, true
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
	if rule := d.twins.add(seen, d.members[base:], name, d.opt.FoldTwins); rule != "" {
		ok = d.refuse(start, rule)
	}
	var v Value
	if ok = ok && d.colon(); ok {
		d.members = append(d.members, Member{Name: name})
		v, ok = d.value()
	}
	if !ok {
		d.path = append(d.path, token{name: name, index: -1})
		return false
	}
	// What the value has put on the stack is gone again: the member is last.
	d.members[len(d.members)-1].Value = v
	return true
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

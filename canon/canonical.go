package canon

import (
	"math/bits"
	"strings"
)

// canonical reads a text that is the RFC 8785 form of an object that [Check]
// accepts, where it stands: without white space, with numbers as they are
// printed and each name once. It still looks at every byte that gives the text
// its structure; where one is not what it must be, nothing is returned.
type canonical struct {
	text string
	pos  int
	bare bool // the text has no backslash: the next quote ends a string
}

func canonicalText(text string) canonical {
	return canonical{text: text, bare: strings.IndexByte(text, '\\') < 0}
}

// Pick reads members of the object in text, which must be canonical, as
// [Value.Canonical] returns it: out[i] becomes the one called names[i], the
// invalid Value if there is none. out is as long as names, and the names
// differ. It reports false if it cannot tell; [DecodeText] can.
func Pick(text string, names []string, out []Value) bool {
	clear(out)
	c := canonicalText(text)
	if !c.take('{') || c.take('}') {
		return len(text) == 2
	}
	for left := len(names); left > 0; {
		name, ok := c.name()
		if !ok {
			return false
		}
		start := c.pos
		if !c.skip() {
			return false
		}
		for i := range names {
			if names[i] != name {
				continue
			}
			if out[i], ok = valueOf(text[start:c.pos]); !ok {
				return false
			}
			left--
			break
		}
		if !c.take(',') {
			return c.take('}') && c.pos == len(text)
		}
	}
	return true
}

// take moves behind the byte if it is next.
func (c *canonical) take(b byte) bool {
	if c.pos < len(c.text) && c.text[c.pos] == b {
		c.pos++
		return true
	}
	return false
}

// name reads a name without escapes and the colon.
func (c *canonical) name() (string, bool) {
	if c.bare {
		part, ok := c.bareText()
		return part, ok && c.take(':')
	}
	part, plain, ok := c.quoted()
	return part, plain && ok && c.take(':')
}

// bareText reads a string of a text without backslashes.
func (c *canonical) bareText() (string, bool) {
	text, start := c.text, c.pos+1
	if start > len(text) || text[start-1] != '"' {
		return "", false
	}
	end := quoteFrom(text, start)
	if end >= len(text) || text[end] != '"' {
		return "", false
	}
	c.pos = end + 1
	return text[start:end], true
}

// quoted reads a string. plain tells that it has no escapes.
func (c *canonical) quoted() (part string, plain, ok bool) {
	if c.bare {
		part, ok = c.bareText()
		return part, true, ok
	}
	start := c.pos + 1
	if start > len(c.text) || c.text[c.pos] != '"' {
		return "", false, false
	}
	end := afterText(c.text, start)
	if end < len(c.text) && c.text[end] == '"' {
		c.pos = end + 1
		return c.text[start:end], true, true
	}
	for end+1 < len(c.text) && c.text[end] == '\\' {
		end = afterText(c.text, end+2)
	}
	if end >= len(c.text) || c.text[end] != '"' {
		return "", false, false
	}
	c.pos = end + 1
	return c.text[start:end], false, true
}

// quoteFrom is afterText where there are no backslashes.
func quoteFrom(s string, i int) int {
	for ; len(s)-i >= 8; i += 8 {
		w := word(s, i)
		other := w ^ '"'*lowBits
		// The lowest bit is right, as in ending.
		if stop := ((w-' '*lowBits)&^w | (other-lowBits)&^other) & highBits; stop != 0 {
			return i + bits.TrailingZeros64(stop)/8
		}
	}
	return afterText(s, i)
}

// skip moves behind the value that is next.
func (c *canonical) skip() bool {
	depth := 0
	for c.pos < len(c.text) {
		switch c.text[c.pos] {
		case '"':
			if _, _, ok := c.quoted(); !ok {
				return false
			}
		case '{', '[':
			depth++
			c.pos++
			continue
		case '}', ']':
			depth--
			c.pos++
		case ',', ':':
			c.pos++
			continue
		default:
			c.scalar()
		}
		if depth <= 0 {
			return depth == 0
		}
	}
	return false
}

// scalar reads a number or a word.
func (c *canonical) scalar() string {
	start := c.pos
	for c.pos < len(c.text) {
		if b := c.text[c.pos]; b == ',' || b == '}' || b == ']' {
			break
		}
		c.pos++
	}
	return c.text[start:c.pos]
}

// valueOf returns the value whose text is part.
func valueOf(part string) (Value, bool) {
	if part == "" {
		return Value{}, false
	}
	switch b := part[0]; {
	case b == '"' && strings.IndexByte(part, '\\') < 0:
		return stringValue(part[1 : len(part)-1]), true
	case b == '-' || b-'0' <= 9:
		return numberValue(part), true
	}
	v, err := DecodeText(part, Options{MaxBytes: CeilingBytes, MaxDepth: CeilingDepth, MaxNodes: CeilingNodes, Exact: true})
	return v, err == nil
}

// someNames is for how many members at most a map gets room before they are
// read: a text of nothing but colons must not make a large one.
const someNames = 14

// GoObject builds the Go tree of the object in text, which must be canonical:
// map[string]any, []any, string, bool, nil, and float64, or int64 where the
// number is an integer. It reports false if it cannot; [DecodeText] can.
func GoObject(text string) (map[string]any, bool) {
	c := canonicalText(text)
	if !c.take('{') {
		return nil, false
	}
	out, ok := c.object(1, min(strings.Count(text, ":"), someNames))
	return out, ok && c.pos == len(text)
}

// value builds the value that is next.
func (c *canonical) value(depth int) (any, bool) {
	if c.pos == len(c.text) || depth > CeilingDepth {
		return nil, false
	}
	switch c.text[c.pos] {
	case '"':
		s, ok := c.string()
		return s, ok
	case '{':
		c.pos++
		return c.object(depth+1, 0)
	case '[':
		c.pos++
		return c.array(depth + 1)
	}
	switch part := c.scalar(); part {
	case "true":
		return true, true
	case "false":
		return false, true
	case "null":
		return nil, true
	default:
		return numberOf(part)
	}
}

func numberOf(part string) (any, bool) {
	v := numberValue(part)
	if i, ok := v.Int64(); ok {
		return i, true
	}
	if _, err := ParseNumber(part, true); err != nil {
		return nil, false
	}
	return v.Float64(), true
}

// string reads a string and what its escapes stand for.
func (c *canonical) string() (string, bool) {
	if c.bare {
		return c.bareText()
	}
	start := c.pos
	part, plain, ok := c.quoted()
	if !ok || plain {
		return part, ok
	}
	v, ok := valueOf(c.text[start:c.pos])
	return v.Text(), ok
}

// object builds the object whose brace has been read, in a map with room for
// size members.
func (c *canonical) object(depth, size int) (map[string]any, bool) {
	out := make(map[string]any, size)
	count := 0
	for more := !c.take('}'); more; count++ {
		name, ok := c.string()
		if !ok || !c.take(':') {
			return nil, false
		}
		value, ok := c.value(depth)
		if !ok {
			return nil, false
		}
		out[name] = value
		if more = c.take(','); !more && !c.take('}') {
			return nil, false
		}
	}
	return out, len(out) == count
}

// array builds the array whose bracket has been read.
func (c *canonical) array(depth int) ([]any, bool) {
	var few [8]any
	elems := few[:0]
	for more := !c.take(']'); more; {
		x, ok := c.value(depth)
		if !ok {
			return nil, false
		}
		elems = append(elems, x)
		if more = c.take(','); !more && !c.take(']') {
			return nil, false
		}
	}
	out := make([]any, len(elems))
	copy(out, elems)
	return out, true
}

package schema

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// The texts of this file come from the schema, never from the value.

// maxPhrase is where quoted schema text is cut, in bytes.
const maxPhrase = 200

func clip(s string) string {
	if len(s) <= maxPhrase {
		return s
	}
	return strings.ToValidUTF8(s[:maxPhrase], "") + "..."
}

func atLeast(n int, what string) string { return "at least " + plural(n, what) }
func atMost(n int, what string) string  { return "at most " + plural(n, what) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// has reports whether the set admits v. Integer admits 1.0 (2020-12
// validation §6.1.1).
func (t TypeSet) has(v canon.Value) bool {
	switch v.Kind() {
	case canon.Null:
		return t&TypeNull != 0
	case canon.Bool:
		return t&TypeBoolean != 0
	case canon.Number:
		return t&TypeNumber != 0 || t&TypeInteger != 0 && integral(v)
	case canon.String:
		return t&TypeString != 0
	case canon.Array:
		return t&TypeArray != 0
	case canon.Object:
		return t&TypeObject != 0
	default:
		return false
	}
}

// kinds has a bit for each kind that the set admits whatever the value.
func (t TypeSet) kinds() (out uint8) {
	for _, x := range []struct {
		bit  TypeSet
		kind canon.Kind
	}{{TypeNull, canon.Null}, {TypeBoolean, canon.Bool}, {TypeNumber, canon.Number}, {TypeString, canon.String},
		{TypeArray, canon.Array}, {TypeObject, canon.Object}} {
		if t&x.bit != 0 {
			out |= 1 << x.kind
		}
	}
	return out
}

// String names the types: "string", "integer or null".
func (t TypeSet) String() string {
	names := make([]string, 0, bits.OnesCount8(uint8(t)))
	for _, x := range []struct {
		bit  TypeSet
		name string
	}{
		{TypeString, "string"}, {TypeNumber, "number"}, {TypeInteger, "integer"}, {TypeBoolean, "boolean"},
		{TypeArray, "array"}, {TypeObject, "object"}, {TypeNull, "null"},
	} {
		if t&x.bit != 0 && !(x.bit == TypeInteger && t&TypeNumber != 0) {
			names = append(names, x.name)
		}
	}
	return strings.Join(names, " or ")
}

func enumRule(n *node) string {
	if n.isConst {
		return "const"
	}
	return "enum"
}

func enumText(n *node) string {
	var b strings.Builder
	if len(n.enum) == 0 {
		return "nothing: the schema admits no value here"
	}
	if !n.isConst {
		b.WriteString("one of ")
	}
	for i := range n.enum {
		if i > 0 {
			b.WriteString(", ")
		}
		b.Write(n.enum[i].Canonical())
		if b.Len() > maxPhrase {
			break
		}
	}
	return clip(b.String())
}

func (b *bound) phrase() string {
	switch b.keyword {
	case "minimum":
		return b.text + " or more"
	case "maximum":
		return b.text + " or less"
	case "exclusiveMinimum":
		return "more than " + b.text
	default:
		return "less than " + b.text
	}
}

// String writes the number with at most 32 digits and an exponent.
func (d *decimal) String() string {
	if d.n == 0 {
		return "0"
	}
	text := string(d.digits[:d.n])
	switch {
	case d.exp > 0 && d.n+d.exp <= 21:
		text += strings.Repeat("0", d.exp)
	case d.exp < 0 && -d.exp < d.n:
		text = text[:d.n+d.exp] + "." + text[d.n+d.exp:]
	case d.exp < 0 && -d.exp <= 21:
		text = "0." + strings.Repeat("0", -d.exp-d.n) + text
	case d.exp != 0:
		text += "e" + strconv.Itoa(d.exp)
	}
	if d.neg {
		return "-" + text
	}
	return text
}

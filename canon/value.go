package canon

import (
	"strconv"
	"unicode/utf8"
)

// Kind is the JSON type of a [Value].
type Kind uint8

// The kinds. The zero Value has kind Invalid and cannot be encoded.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"invalid", "null", "boolean", "number", "string", "array", "object"}

// String returns the JSON name of the kind ("boolean", "object", ...).
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Invalid]
}

// Value is one JSON value. It is immutable: there is no way to change one in
// place, so sharing a Value shares no authority. It is still untrusted data;
// only snapshot.Freeze turns it into something that may be decided on.
//
// Numbers keep their RFC 8785 text, which for values accepted by the
// arguments decoder is also their exact decimal value.
type Value struct {
	_    [0]func() // not comparable: two equal values may be two trees
	text string    // String: content. Number: RFC 8785 text. Bool: "true" or "false".
	kids *children // Array, Object: what is in it; nil if nothing is
	kind Kind
}

// children are apart from Value to keep Value small: most values are scalars.
type children struct {
	elems   []Value
	members []Member
	sound   bool // text is valid UTF-8 and names are unique, here and below
}

func (v Value) elems() []Value {
	if v.kids == nil {
		return nil
	}
	return v.kids.elems
}

func (v Value) members() []Member {
	if v.kids == nil {
		return nil
	}
	return v.kids.members
}

// Member is one name and value of an object, in document order.
type Member struct {
	Name  string
	Value Value
}

// NullValue returns the JSON null.
func NullValue() Value { return Value{kind: Null} }

// BoolValue returns a JSON boolean.
func BoolValue(b bool) Value { return Value{kind: Bool, text: strconv.FormatBool(b)} }

// StringValue returns a JSON string. s must be valid UTF-8; [Check] and
// snapshot.Freeze refuse it otherwise.
func StringValue(s string) Value { return Value{kind: String, text: s} }

// IntValue returns a JSON number. Integers outside ±(2^53-1) have no exact
// JSON form; for those it returns the invalid Value.
func IntValue(i int64) Value {
	if i > MaxSafeInteger || i < -MaxSafeInteger {
		return Value{}
	}
	return Value{kind: Number, text: strconv.FormatInt(i, 10)}
}

// ArrayValue returns a JSON array. It keeps elems; the caller gives it up.
func ArrayValue(elems ...Value) Value {
	if len(elems) == 0 {
		return Value{kind: Array}
	}
	return Value{kind: Array, kids: &children{elems: elems}}
}

// ObjectValue returns a JSON object with the members in the given order. It
// keeps members; the caller gives it up. Names must be unique: [Check] and
// snapshot.Freeze refuse duplicates.
func ObjectValue(members ...Member) Value {
	if len(members) == 0 {
		return Value{kind: Object}
	}
	return Value{kind: Object, kids: &children{members: members}}
}

// Amend is ObjectValue for members that are those of the decoded object v in
// its order, some with other values, and more behind them. If all that is new
// is sound as well, so is the result: see [Value.Decoded].
func Amend(v Value, members ...Member) Value {
	out := ObjectValue(members...)
	if out.kids != nil {
		out.kids.sound = v.Decoded() && amends(v.members(), members)
	}
	return out
}

func amends(old, members []Member) bool {
	if len(old) > len(members) {
		return false
	}
	for i := range old {
		if m := &members[i]; m.Name != old[i].Name || !m.Value.same(&old[i].Value) && !m.Value.sound() {
			return false
		}
	}
	for i := len(old); i < len(members); i++ {
		m := &members[i]
		if !m.Value.sound() || !utf8.ValidString(m.Name) {
			return false
		}
		for j := range i {
			if members[j].Name == m.Name {
				return false
			}
		}
	}
	return true
}

// same reports that v and w are one value, not only equal ones.
func (v *Value) same(w *Value) bool { return v.kind == w.kind && v.kids == w.kids && v.text == w.text }

// sound reports whether v holds nothing but what a decoder would return.
func (v *Value) sound() bool {
	switch v.kind {
	case Null, Bool, Number: // this package has written their text
		return true
	case String:
		return utf8.ValidString(v.text)
	default:
		return v.Decoded()
	}
}

// MaxSafeInteger is 2^53-1, the largest integer that every JSON reader keeps
// exactly (RFC 7493 §2.2).
const MaxSafeInteger = 1<<53 - 1

// Kind returns the JSON type.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is the JSON null (not whether it is absent).
func (v Value) IsNull() bool { return v.kind == Null }

// Bool returns the boolean; false for any other kind.
func (v Value) Bool() bool { return v.kind == Bool && v.text == "true" }

// Text returns the content of a string; "" for any other kind.
func (v Value) Text() string {
	if v.kind != String {
		return ""
	}
	return v.text
}

// NumberText returns the RFC 8785 text of a number; "" for any other kind.
func (v Value) NumberText() string {
	if v.kind != Number {
		return ""
	}
	return v.text
}

// Float64 returns the number as a double; 0 for any other kind.
func (v Value) Float64() float64 {
	if v.kind != Number {
		return 0
	}
	f, _ := strconv.ParseFloat(v.text, 64)
	return f
}

// Int64 returns the number if it is an integer within ±(2^53-1).
func (v Value) Int64() (int64, bool) {
	if v.kind != Number {
		return 0, false
	}
	i, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil || i > MaxSafeInteger || i < -MaxSafeInteger {
		return 0, false
	}
	return i, true
}

// Decoded reports whether v is an array or object as [Decode] returns them, or
// made of such by [Amend]: [Check] has nothing to find in it but numbers that
// are not exact and what is beyond its limits.
func (v Value) Decoded() bool {
	return (v.kind == Array || v.kind == Object) && (v.kids == nil || v.kids.sound)
}

// Len returns the number of elements or members; 0 for scalars.
func (v Value) Len() int {
	if v.kids == nil {
		return 0
	}
	return len(v.kids.elems) + len(v.kids.members)
}

// At returns element i of an array. It panics if i is out of range.
func (v Value) At(i int) Value { return v.elems()[i] }

// Member returns member i of an object, in document order. It panics if i is
// out of range.
func (v Value) Member(i int) (name string, value Value) {
	m := v.members()[i]
	return m.Name, m.Value
}

// Get returns the member called name, byte for byte.
func (v Value) Get(name string) (Value, bool) {
	members := v.members()
	for i := range members {
		if members[i].Name == name {
			return members[i].Value, true
		}
	}
	return Value{}, false
}

// Members returns a copy of the members of an object, in document order.
func (v Value) Members() []Member { return append([]Member(nil), v.members()...) }

// Elements returns a copy of the elements of an array.
func (v Value) Elements() []Value { return append([]Value(nil), v.elems()...) }

// Equal reports whether a and b have the same canonical form: member order is
// ignored, everything else counts.
func Equal(a, b Value) bool {
	if a.kind != b.kind || a.text != b.text || a.Len() != b.Len() {
		return false
	}
	x, y := a.elems(), b.elems()
	for i := range x {
		if !Equal(x[i], y[i]) {
			return false
		}
	}
	return equalMembers(a.members(), b.members())
}

// equalMembers compares members in the same order without a set.
func equalMembers(a, b []Member) bool {
	same := 0
	for same < len(a) && a[same].Name == b[same].Name {
		if !Equal(a[same].Value, b[same].Value) {
			return false
		}
		same++
	}
	return same == len(a) || equalUnordered(a[same:], b[same:])
}

func equalUnordered(a, b []Member) bool {
	index := make(map[string]int, len(b))
	for i := range b {
		index[b[i].Name] = i
	}
	for i := range a {
		j, ok := index[a[i].Name]
		if !ok || !Equal(a[i].Value, b[j].Value) {
			return false
		}
	}
	return true
}

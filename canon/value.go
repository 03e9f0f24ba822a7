package canon

import (
	"strconv"
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
	// kids is what is in an Array or Object, and tells the kind of all: that
	// of a scalar, or of an empty one, is in leaves. nil is Invalid.
	kids *children
}

// children are apart from Value to keep Value small: most values are scalars.
type children struct {
	elems   []Value
	members []Member
	extent
	kind Kind
	form form
}

// form is what is known of the names of an object that is not untrusted.
type form uint8

const (
	bare    form = 1 << iota // they are written as they stand, without escapes
	ordered                  // they are in the order of RFC 8785 §3.2.3
)

// extent is what is known of a value and all below it without another walk.
type extent struct {
	nodes  int32 // values, never fewer than there are; unless untrusted
	height int16 // nesting of arrays and objects, never less; unless untrusted
	trust  trust
}

// trust is what a walk would find.
type trust uint8

const (
	untrusted trust = iota
	sound           // text is valid UTF-8 and names are unique
	exact           // and numbers obey Options.Exact
)

// leaves are the kinds of scalars and of empty containers. Nobody writes them.
var leaves = [...]children{
	Null:   {kind: Null, extent: extent{1, 0, exact}},
	Bool:   {kind: Bool, extent: extent{1, 0, exact}},
	Number: {kind: Number, extent: extent{1, 0, sound}},
	String: {kind: String, extent: extent{1, 0, untrusted}},
	Array:  {kind: Array, extent: extent{1, 1, exact}},
	Object: {kind: Object, extent: extent{1, 1, exact}},
}

// validText is the kind of a string that is known to be valid UTF-8.
var validText = children{kind: String, extent: extent{1, 0, exact}}

// bareText is the kind of a string that is valid and is written as it stands,
// without escapes.
var bareText = children{kind: String, extent: extent{1, 0, exact}}

func (v *Value) elems() []Value {
	if v.kids == nil {
		return nil
	}
	return v.kids.elems
}

func (v *Value) members() []Member {
	if v.kids == nil {
		return nil
	}
	return v.kids.members
}

func nullValue() Value              { return Value{kids: &leaves[Null]} }
func boolValue(text string) Value   { return Value{text: text, kids: &leaves[Bool]} }
func numberValue(text string) Value { return Value{text: text, kids: &leaves[Number]} }
func stringValue(text string) Value { return Value{text: text, kids: &leaves[String]} }
func validValue(text string) Value  { return Value{text: text, kids: &validText} }
func bareValue(text string) Value   { return Value{text: text, kids: &bareText} }
func emptyArray() Value             { return Value{kids: &leaves[Array]} }
func emptyObject() Value            { return Value{kids: &leaves[Object]} }

// Member is one name and value of an object, in document order.
type Member struct {
	Name  string
	Value Value
}

// NullValue returns the JSON null.
func NullValue() Value { return nullValue() }

// BoolValue returns a JSON boolean.
func BoolValue(b bool) Value { return boolValue(strconv.FormatBool(b)) }

// StringValue returns a JSON string. s must be valid UTF-8; [Check] and
// snapshot.Freeze refuse it otherwise.
func StringValue(s string) Value { return stringValue(s) }

// IntValue returns a JSON number. Integers outside ±(2^53-1) have no exact
// JSON form; for those it returns the invalid Value.
func IntValue(i int64) Value {
	if i > MaxSafeInteger || i < -MaxSafeInteger {
		return Value{}
	}
	return numberValue(strconv.FormatInt(i, 10))
}

// ArrayValue returns a JSON array. It keeps elems; the caller gives it up.
func ArrayValue(elems ...Value) Value {
	if len(elems) == 0 {
		return emptyArray()
	}
	return Value{kids: &children{kind: Array, elems: elems}}
}

// ObjectValue returns a JSON object with the members in the given order. It
// keeps members; the caller gives it up. Names must be unique: [Check] and
// snapshot.Freeze refuse duplicates.
func ObjectValue(members ...Member) Value {
	if len(members) == 0 {
		return emptyObject()
	}
	return Value{kids: &children{kind: Object, members: members}}
}

// MaxSafeInteger is 2^53-1, the largest integer that every JSON reader keeps
// exactly (RFC 7493 §2.2).
const MaxSafeInteger = 1<<53 - 1

// Kind returns the JSON type.
func (v Value) Kind() Kind {
	if v.kids == nil {
		return Invalid
	}
	return v.kids.kind
}

// IsNull reports whether v is the JSON null (not whether it is absent).
func (v Value) IsNull() bool { return v.Kind() == Null }

// Bool returns the boolean; false for any other kind.
func (v Value) Bool() bool { return v.Kind() == Bool && v.text == "true" }

// Text returns the content of a string; "" for any other kind.
func (v Value) Text() string {
	if v.Kind() != String {
		return ""
	}
	return v.text
}

// NumberText returns the RFC 8785 text of a number; "" for any other kind.
func (v Value) NumberText() string {
	if v.Kind() != Number {
		return ""
	}
	return v.text
}

// Float64 returns the number as a double; 0 for any other kind.
func (v Value) Float64() float64 {
	if v.Kind() != Number {
		return 0
	}
	f, _ := strconv.ParseFloat(v.text, 64)
	return f
}

// Int64 returns the number if it is an integer within ±(2^53-1).
func (v Value) Int64() (int64, bool) {
	if v.Kind() != Number {
		return 0, false
	}
	return safeInteger(v.text)
}

// safeInteger reads an integer in RFC 8785 form.
func safeInteger(text string) (int64, bool) {
	digits := text
	if digits != "" && digits[0] == '-' {
		digits = digits[1:]
	}
	if digits == "" || len(digits) > len("9007199254740991") {
		return 0, false
	}
	var i int64
	for _, c := range []byte(digits) {
		if c-'0' > 9 {
			return 0, false
		}
		i = i*10 + int64(c-'0')
	}
	if len(digits) < len(text) {
		i = -i
	}
	return i, -MaxSafeInteger <= i && i <= MaxSafeInteger
}

// Decoded reports whether v is an array or object as [Decode] returns them, or
// made of such by a [Draft]: [Check] has nothing to find in it but numbers that
// are not exact and what is beyond its limits.
func (v Value) Decoded() bool {
	return v.Kind() >= Array && v.kids.trust >= sound
}

// Len returns the number of elements or members; 0 for scalars.
func (v Value) Len() int {
	if v.kids == nil {
		return 0
	}
	return len(v.kids.elems) + len(v.kids.members)
}

// At returns element i of an array. It panics if i is out of range.
func (v Value) At(i int) Value { return v.kids.elems[i] }

// Member returns member i of an object, in document order. It panics if i is
// out of range.
func (v Value) Member(i int) (name string, value Value) {
	m := &v.kids.members[i]
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
	if a.Kind() != b.Kind() || a.text != b.text || a.Len() != b.Len() {
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

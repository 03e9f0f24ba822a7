package canon

import (
	"strconv"
	"strings"
)

var (
	pointerEscape   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// JoinPointer appends one member name to an RFC 6901 JSON Pointer.
func JoinPointer(parent, name string) string { return parent + "/" + pointerEscape.Replace(name) }

// JoinIndex appends one array index to an RFC 6901 JSON Pointer.
func JoinIndex(parent string, i int) string { return parent + "/" + strconv.Itoa(i) }

// SplitPointer returns the unescaped reference tokens of an RFC 6901 JSON
// Pointer. ok is false if the text is not one ("" is the root and has none).
func SplitPointer(pointer string) (tokens []string, ok bool) {
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	tokens = strings.Split(pointer[1:], "/")
	for i, t := range tokens {
		if strings.Count(t, "~") != strings.Count(t, "~0")+strings.Count(t, "~1") {
			return nil, false
		}
		tokens[i] = pointerUnescape.Replace(t)
	}
	return tokens, true
}

// Lookup returns the value at an RFC 6901 JSON Pointer.
func (v Value) Lookup(pointer string) (Value, bool) {
	tokens, ok := SplitPointer(pointer)
	if !ok {
		return Value{}, false
	}
	for _, t := range tokens {
		if v, ok = v.child(t); !ok {
			return Value{}, false
		}
	}
	return v, true
}

func (v Value) child(token string) (Value, bool) {
	switch v.Kind() {
	case Object:
		return v.Get(token)
	case Array:
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i >= v.Len() || strconv.Itoa(i) != token {
			return Value{}, false
		}
		return v.At(i), true
	default:
		return Value{}, false
	}
}

// With returns a copy of v in which the value at pointer is x. Missing
// objects on the way are created; array elements must exist. ok is false if
// the pointer is not one or leads through a scalar.
func (v Value) With(pointer string, x Value) (_ Value, ok bool) {
	tokens, ok := SplitPointer(pointer)
	if !ok {
		return v, false
	}
	return v.with(tokens, x)
}

func (v Value) with(tokens []string, x Value) (Value, bool) {
	if len(tokens) == 0 {
		return x, true
	}
	switch v.Kind() {
	case Object:
		return v.withMember(tokens, x)
	case Array:
		old, ok := v.child(tokens[0])
		if !ok {
			return v, false
		}
		next, ok := old.with(tokens[1:], x)
		if !ok {
			return v, false
		}
		elems := v.Elements()
		i, _ := strconv.Atoi(tokens[0])
		elems[i] = next
		return ArrayValue(elems...), true
	default:
		return v, false
	}
}

func (v Value) withMember(tokens []string, x Value) (Value, bool) {
	old, found := v.Get(tokens[0])
	if !found {
		old = ObjectValue()
	}
	next, ok := old.with(tokens[1:], x)
	if !ok {
		return v, false
	}
	members := v.Members()
	for i := range members {
		if members[i].Name == tokens[0] {
			members[i].Value = next
			return ObjectValue(members...), true
		}
	}
	return ObjectValue(append(members, Member{tokens[0], next})...), true
}

// Without returns a copy of v without the object member at pointer; v itself
// if there is none.
func (v Value) Without(pointer string) Value {
	tokens, ok := SplitPointer(pointer)
	if !ok || len(tokens) == 0 {
		return v
	}
	if _, found := v.Lookup(pointer); !found {
		return v
	}
	return v.without(tokens)
}

func (v Value) without(tokens []string) Value {
	if len(tokens) > 1 {
		old, _ := v.child(tokens[0])
		next, _ := v.with(tokens[:1], old.without(tokens[1:]))
		return next
	}
	if v.Kind() != Object {
		return v
	}
	members := make([]Member, 0, v.Len())
	for _, m := range v.members() {
		if m.Name != tokens[0] {
			members = append(members, m)
		}
	}
	return ObjectValue(members...)
}

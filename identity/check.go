package identity

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
)

// RuleSpoof is the rule of every refusal of [Check].
const RuleSpoof = "identity_spoof"

// everyElement in a pointer stands for each element of an array or each
// member of an object.
const everyElement = "*"

// Check refuses arguments in which a marked member that is present is not a
// string byte-equal to the session's value. It fails with [canon.Violations]
// whose rule is [RuleSpoof], or with another error if a mark is malformed.
//
// A mark that cannot be followed because a scalar stands where its parent
// should be is refused as well: the tool might read an identity out of it. A
// null parent counts as absent.
func Check(s Session, members []Member, args canon.Value) error {
	var found canon.Violations
	for _, m := range members {
		want, err := m.of(s)
		if err != nil {
			return err
		}
		tokens, ok := canon.SplitPointer(m.Pointer)
		if !ok || len(tokens) == 0 {
			return fmt.Errorf("identity mark %q is not a JSON Pointer to a member", m.Pointer)
		}
		w := walk{want: want, names: m.Names, found: &found}
		w.follow(args, "", tokens)
	}
	if len(found) > 0 {
		return found
	}
	return nil
}

// of returns the session's value for a mark. It is never empty: a session
// without one must not match an empty argument.
func (m Member) of(s Session) (string, error) {
	var value string
	switch m.Names {
	case NamesPrincipal:
		value = s.Principal
	case NamesTenant:
		value = s.Tenant
	default:
		return "", fmt.Errorf("identity mark %s names neither principal nor tenant", m.Pointer)
	}
	if value == "" {
		return "", fmt.Errorf("session without %s", m.Names)
	}
	return value, nil
}

type walk struct {
	want, names string
	found       *canon.Violations
}

func (w walk) follow(v canon.Value, pointer string, tokens []string) {
	if len(tokens) == 0 {
		if v.Kind() != canon.String || v.Text() != w.want {
			w.refuse(pointer)
		}
		return
	}
	if tokens[0] == everyElement && v.Kind() != canon.Null {
		w.each(v, pointer, tokens[1:])
		return
	}
	switch v.Kind() {
	case canon.Null:
	case canon.Object:
		if x, ok := v.Get(tokens[0]); ok {
			w.follow(x, canon.JoinPointer(pointer, tokens[0]), tokens[1:])
		}
	case canon.Array:
		w.element(v, pointer, tokens)
	default:
		w.refuse(pointer)
	}
}

func (w walk) each(v canon.Value, pointer string, rest []string) {
	switch v.Kind() {
	case canon.Array:
		for i := range v.Len() {
			w.follow(v.At(i), canon.JoinIndex(pointer, i), rest)
		}
	case canon.Object:
		for i := range v.Len() {
			name, x := v.Member(i)
			w.follow(x, canon.JoinPointer(pointer, name), rest)
		}
	default:
		w.refuse(pointer)
	}
}

// element follows an index. An array where the mark expects an object cannot
// be judged.
func (w walk) element(v canon.Value, pointer string, tokens []string) {
	for i := range v.Len() {
		if here := canon.JoinIndex("", i); here == "/"+tokens[0] {
			w.follow(v.At(i), pointer+here, tokens[1:])
			return
		}
	}
	if !isIndex(tokens[0]) {
		w.refuse(pointer)
	}
}

func isIndex(token string) bool {
	for _, r := range token {
		if r < '0' || r > '9' {
			return false
		}
	}
	return token != ""
}

func (w walk) refuse(pointer string) {
	if len(*w.found) < canon.MaxViolations {
		*w.found = append(*w.found, canon.Refuse(pointer, RuleSpoof, "the "+w.names+" of the session")...)
	}
}

// Fill is the session's value for one marked member, wherever that member is
// absent. The pointer may hold "*", as in the mark.
type Fill struct {
	Pointer string
	Value   canon.Value
}

// Fills returns the fills of a session, in the order of the marks. It fails
// if the session has no value for a mark.
func Fills(s Session, members []Member) ([]Fill, error) {
	var fills []Fill
	for _, m := range members {
		if !m.Fill {
			continue
		}
		value, err := m.of(s)
		if err != nil {
			return nil, err
		}
		fills = append(fills, Fill{Pointer: m.Pointer, Value: canon.StringValue(value)})
	}
	return fills, nil
}

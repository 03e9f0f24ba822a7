package wire

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Member returns the raw value at an RFC 6901 pointer into the frame, such as
// "/result/structuredContent/id". found is false if a member on the way is
// absent. It fails with an [*Error] if a member on the way is there twice or
// in another letter case, alone or beside the wanted one: a lenient reader
// would then see something else than we do.
func (m *Message) Member(pointer string) (raw []byte, found bool, err error) {
	where, found, fault := m.locate(pointer)
	if fault != nil {
		return nil, false, fault
	}
	if !found {
		return nil, false, nil
	}
	return where.of(m.frame), true, nil
}

func (m *Message) locate(pointer string) (where span, found bool, err *Error) {
	if where, name, ok := m.shortcut(pointer); ok {
		if !where.found() {
			return span{}, false, nil
		}
		where, found, err = child(m.frame, where, name)
		return where, found, m.blame(err, pointer)
	}
	tokens, err := splitPointer(pointer)
	if err != nil {
		return span{}, false, err
	}
	where = m.root
	for _, token := range tokens {
		if where, found, err = child(m.frame, where, token); err != nil || !found {
			return span{}, false, m.blame(err, pointer)
		}
	}
	return where, true, nil
}

// shortcut takes the first step of a pointer of two tokens that begins at
// params or result: where these are is known since the frame was parsed.
func (m *Message) shortcut(pointer string) (where span, name string, ok bool) {
	for _, top := range [...]struct {
		prefix string
		at     span
	}{{"/params/", m.params}, {"/result/", m.result}} {
		if rest, found := strings.CutPrefix(pointer, top.prefix); found && rest != "" && !strings.ContainsAny(rest, "/~") && utf8.ValidString(rest) {
			return top.at, rest, true
		}
	}
	return span{}, "", false
}

// splitPointer returns the tokens of a pointer in valid UTF-8: no member name
// is anything else.
func splitPointer(pointer string) ([]string, *Error) {
	tokens, ok := canon.SplitPointer(pointer)
	if !ok || !utf8.ValidString(pointer) {
		return nil, refuse(CodeInternal, RulePointer, "", -1)
	}
	return tokens, nil
}

// placeOf is splitPointer for a place that can be edited: not the root.
func placeOf(pointer string) ([]string, *Error) {
	tokens, err := splitPointer(pointer)
	if err == nil && len(tokens) == 0 {
		err = refuse(CodeInternal, RulePointer, "", -1)
	}
	return tokens, err
}

// blame completes the refusal of a place that the caller asked for.
func (m *Message) blame(err *Error, pointer string) *Error {
	if err != nil {
		err.Pointer, err.ID, err.Answerable = pointer, m.id, m.kind == KindRequest
	}
	return err
}

// child finds a member or an element by one pointer token.
func child(src []byte, where span, token string) (_ span, found bool, err *Error) {
	if src[where.start] == '[' {
		list := elementsOf(src, where)
		i, bad := strconv.Atoi(token)
		if bad != nil || i < 0 || i >= len(list) || strconv.Itoa(i) != token {
			return span{}, false, nil
		}
		return list[i], true, nil
	}
	var room [fewMembers]member
	members := appendMembers(room[:0], src, where)
	i, err := sole(members, token)
	if err != nil || i < 0 {
		return span{}, false, err
	}
	return members[i].value, true, nil
}

// sole returns the index of the one member called name, or -1 if no member
// has that name in any letter case. Everything else has two readings.
func sole(members []member, name string) (int, *Error) {
	at := -1
	for i := range members {
		if !members[i].valid || !strings.EqualFold(members[i].name, name) {
			continue
		}
		if at >= 0 {
			return -1, refuse(CodeInvalidRequest, twinRule(members[at].name, members[i].name), "", members[i].key.start)
		}
		at = i
	}
	if at >= 0 && members[at].name != name {
		return -1, refuse(CodeInvalidRequest, RuleCaseVariant, "", members[at].key.start)
	}
	return at, nil
}

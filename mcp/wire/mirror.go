package wire

import (
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Mirror is an argument that a tool's schema wants repeated in a header with
// the keyword x-mcp-header (MCP 2026-07-28, "Custom Headers from Tool
// Parameters").
type Mirror struct {
	Header  string // whole header name; always begins with HeaderParamPrefix
	Pointer string // RFC 6901 pointer of the value in the arguments
}

const mirrorKeyword = "x-mcp-header"

// Mirrors finds the x-mcp-header keywords of a raw inputSchema. It fails with
// an [*Error] if one breaks the rules of MCP: a name that is no HTTP token or
// is used twice, a type that is not string, integer or boolean, a place that
// is not reached through properties alone; or if the schema has two readings
// there. Such a tool must not be offered over HTTP.
func Mirrors(inputSchema []byte) ([]Mirror, error) {
	where, err := scanDocument(inputSchema, DefaultMaxDepth)
	if err != nil {
		return nil, err
	}
	w := mirrorWalk{src: inputSchema, seen: make(map[string]bool)}
	if err := w.schema(where, "", true); err != nil {
		return nil, err
	}
	return w.found, nil
}

type mirrorWalk struct {
	src   []byte
	found []Mirror
	seen  map[string]bool
}

func mirrorFault(where span) *Error {
	return refuse(CodeInvalidRequest, RuleHeader, "", where.start)
}

// schema visits a schema; open says that it is reached through properties
// alone.
func (w *mirrorWalk) schema(where span, pointer string, open bool) *Error {
	members := membersOf(w.src, where)
	at, err := sole(members, mirrorKeyword)
	if err != nil {
		return err
	}
	if at >= 0 {
		if err := w.note(members, at, pointer, open); err != nil {
			return err
		}
	}
	if open {
		if _, err := sole(members, "properties"); err != nil {
			return err
		}
	}
	for _, x := range members {
		if err := w.keyword(x, pointer, open); err != nil {
			return err
		}
	}
	return nil
}

// keyword visits what stands below one keyword.
func (w *mirrorWalk) keyword(x member, pointer string, open bool) *Error {
	switch x.name {
	case "const", "enum", "default", "examples", mirrorKeyword:
		return nil // data
	case "properties":
		return w.named(x.value, pointer, open)
	case "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return w.named(x.value, "", false)
	}
	return w.closed(x.value)
}

// closed visits a schema or list of schemas in which no keyword may stand.
func (w *mirrorWalk) closed(where span) *Error {
	for _, e := range elementsOf(w.src, where) {
		if err := w.closed(e); err != nil {
			return err
		}
	}
	return w.schema(where, "", false)
}

// named visits an object whose member names are chosen by the author.
func (w *mirrorWalk) named(where span, pointer string, open bool) *Error {
	seen := make(map[string]bool)
	for _, x := range membersOf(w.src, where) {
		if open && (seen[x.name] || !x.valid) {
			return mirrorFault(x.key)
		}
		seen[x.name] = true
		if err := w.schema(x.value, canon.JoinPointer(pointer, x.name), open); err != nil {
			return err
		}
	}
	return nil
}

// note records the keyword at members[at] of the schema at pointer.
func (w *mirrorWalk) note(members []member, at int, pointer string, open bool) *Error {
	value := members[at].value
	name, ok := textAt(w.src, value)
	if !ok || !open || pointer == "" || !isToken(name) || w.seen[fold(name)] {
		return mirrorFault(value)
	}
	kind, err := sole(members, "type")
	if err != nil || kind < 0 || !w.mirrorable(members[kind].value) {
		return mirrorFault(value)
	}
	w.seen[fold(name)] = true
	w.found = append(w.found, Mirror{HeaderParamPrefix + name, pointer})
	return nil
}

// mirrorable accepts one primitive type, also where null is allowed beside it.
func (w *mirrorWalk) mirrorable(where span) bool {
	list := elementsOf(w.src, where)
	if list == nil {
		list = []span{where}
	}
	primitive := 0
	for _, e := range list {
		switch text, _ := textAt(w.src, e); text {
		case "string", "integer", "boolean":
			primitive++
		case "null":
		default:
			return false
		}
	}
	return primitive == 1
}

// isToken: RFC 9110 §5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// MirrorHeaders returns the Mcp-Param-* headers of a tools/call request,
// computed from the arguments that it carries: in a gateway, the snapshot. A
// value that is absent or null has none.
func (m *Message) MirrorHeaders(mirrors []Mirror) ([]Header, error) {
	var list []Header
	for _, mirror := range mirrors {
		text, found, err := m.mirrored(mirror)
		if err != nil {
			return nil, err
		}
		if found {
			list = append(list, Header{mirror.Header, EncodeHeader(text)})
		}
	}
	return list, nil
}

// CheckMirrorHeaders refuses a tools/call request whose Mcp-Param-* headers
// (keys as in net/http) differ from its arguments, with code
// [CodeHeaderMismatch]. A header must be there exactly if the value is.
// Integers are compared as numbers.
func (m *Message) CheckMirrorHeaders(mirrors []Mirror, header map[string][]string) error {
	for _, mirror := range mirrors {
		want, found, err := m.mirrored(mirror)
		if err != nil {
			return err
		}
		var values []string
		for name, list := range header {
			if strings.EqualFold(name, mirror.Header) {
				values = append(values, list...)
			}
		}
		if len(values) == 0 && !found {
			continue
		}
		if len(values) != 1 || !found {
			return m.headerFault(mirror.Header)
		}
		got, ok := DecodeHeader(values[0])
		if !ok || got != want && !m.sameInteger(mirror, got, want) {
			return m.headerFault(mirror.Header)
		}
	}
	return nil
}

// mirrored returns the text of the argument; found is false if it is absent
// or null.
func (m *Message) mirrored(mirror Mirror) (text string, found bool, err error) {
	where, found, fault := m.locate("/params/arguments" + mirror.Pointer)
	if fault != nil {
		return "", false, fault
	}
	if !found {
		return "", false, nil
	}
	switch value := where.of(m.frame); value[0] {
	case 'n':
		return "", false, nil
	case 't', 'f':
		return string(value), true, nil
	case '"':
		if text, ok := textAt(m.frame, where); ok {
			return text, true, nil
		}
	case '{', '[':
	default:
		if text, ok := integer(string(value)); ok {
			return text, true, nil
		}
	}
	return "", false, m.headerFault(mirror.Header)
}

// integer returns the decimal form of an integer within ±(2^53-1), however it
// is spelled.
func integer(literal string) (string, bool) {
	v, err := canon.ParseNumber(literal, true)
	if err != nil {
		return "", false
	}
	if _, ok := v.Int64(); !ok {
		return "", false
	}
	return v.NumberText(), true
}

func (m *Message) sameInteger(mirror Mirror, got, want string) bool {
	raw, _, _ := m.locate("/params/arguments" + mirror.Pointer)
	if c := m.frame[raw.start]; c != '-' && (c < '0' || c > '9') {
		return false
	}
	text, ok := integer(got)
	return ok && text == want
}

package wire

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// member is one member of a scanned object.
type member struct {
	name  string // unescaped
	valid bool   // the name is valid Unicode (no lone surrogates)
	key   span   // the quoted name
	value span
}

// fewMembers is how many members most objects of the protocol have at most:
// room for them costs no allocation.
const fewMembers = 8

// membersOf lists the members of the object at where. The bytes were scanned
// before, so there is no error; anything but an object has no members.
func membersOf(src []byte, where span) []member { return appendMembers(nil, src, where) }

// appendMembers is membersOf for a list that has room already.
func appendMembers(list []member, src []byte, where span) []member {
	if !where.found() || src[where.start] != '{' {
		return list
	}
	s := scanner{src: src, pos: where.start + 1, maxDepth: anyDepth}
	if s.space(); s.peek() == '}' {
		return list
	}
	for done := false; !done; {
		key, value, err := s.member(1)
		if err == nil {
			done, err = s.next('}')
		}
		if err != nil {
			return list // cannot be: scanned before
		}
		name, valid := nameAt(src, key)
		list = append(list, member{name, valid, key, value})
	}
	return list
}

// nameAt decodes a member name. One that the protocol knows is not copied.
func nameAt(src []byte, key span) (name string, valid bool) {
	if known, ok := spelled[string(src[key.start+1:key.end-1])]; ok {
		return known, true
	}
	return unquote(key.of(src))
}

// elementsOf lists the elements of the array at where, as membersOf does.
func elementsOf(src []byte, where span) []span {
	if !where.found() || src[where.start] != '[' {
		return nil
	}
	var list []span
	s := scanner{src: src, pos: where.start, maxDepth: anyDepth}
	_ = s.array(1, func(element span) { list = append(list, element) }) // as above
	return list
}

// anyDepth is for bytes whose depth was checked before.
const anyDepth = 1 << 30

// unquote decodes a scanned string token. A string with lone surrogates has
// no decoded form: valid is false and the text is the token's own.
func unquote(token []byte) (text string, valid bool) {
	if bytes.IndexByte(token, '\\') < 0 {
		return string(token[1 : len(token)-1]), true
	}
	v, err := canon.Decode(token, canon.Options{MaxBytes: len(token)})
	if err != nil {
		return string(token), false
	}
	return v.Text(), true
}

// fold maps a name to a form that is equal for all names which differ in
// letter case only (Unicode simple case folding, as encoding/json and other
// lenient readers match names). Lowercase ASCII stays as it is.
func fold(name string) string { return strings.Map(foldRune, name) }

func foldRune(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf:
		return r
	}
	low := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f < utf8.RuneSelf {
			return unicode.ToLower(f)
		}
		low = min(low, f)
	}
	return low
}

// vocabulary maps the folded form of known names to their one spelling.
type vocabulary map[string]string

func newVocabulary(names ...string) vocabulary {
	v := make(vocabulary, len(names))
	for _, n := range names {
		v[fold(n)] = n
	}
	return v
}

// spelled are the names that are met most, each as itself.
var spelled = spellings(envelopeNames, paramsNames, metaNames, toolNames,
	newVocabulary("content", "isError", "structuredContent", "resultType", "tools", "nextCursor", "ttlMs", "cacheScope"))

func spellings(all ...vocabulary) map[string]string {
	out := map[string]string{}
	for _, v := range all {
		for _, name := range v {
			out[name] = name
		}
	}
	return out
}

// The names that the protocol (JSON-RPC 2.0 §4, §5; MCP of all revisions)
// gives a meaning to in the objects that steer a call.
var (
	envelopeNames = newVocabulary("jsonrpc", "id", "method", "params", "result", "error")
	paramsNames   = newVocabulary("name", "arguments", "_meta", "inputResponses", "requestState",
		"uri", "ref", "argument", "context", "cursor", "level", "requestId", "reason",
		"progressToken", "progress", "total", "message", "task", "taskId",
		"protocolVersion", "capabilities", "clientInfo")
	metaNames = newVocabulary("progressToken", metaProtocolVersion,
		metaClientInfo, metaClientCapabilities, metaLogLevel, MetaApproval, MetaIdempotencyKey, MetaSupersedes,
		MetaReceipt, MetaWarrant, MetaVerdict)
	toolNames = newVocabulary("name", "title", "description", "inputSchema", "outputSchema",
		"annotations", "execution", "icons", "_meta")
)

// strict refuses an object that has more than one reading.
func (v vocabulary) strict(members []member, pointer string) *Error {
	if len(members) > fewMembers {
		return v.strictMany(members, pointer)
	}
	for i := range members {
		m := &members[i]
		if !m.valid {
			return refuse(CodeInvalidRequest, RuleName, pointer, m.key.start)
		}
		for j := range i {
			if first := members[j].name; strings.EqualFold(first, m.name) {
				return refuse(CodeInvalidRequest, twinRule(first, m.name), v.place(pointer, fold(m.name)), m.key.start)
			}
		}
		if v[m.name] == m.name {
			continue // in lowercase, so it is its own folded form
		}
		if known, ok := v[fold(m.name)]; ok && known != m.name {
			return refuse(CodeInvalidRequest, RuleCaseVariant, v.place(pointer, fold(m.name)), m.key.start)
		}
	}
	return nil
}

// strictMany is strict for an object of any size, in linear time.
func (v vocabulary) strictMany(members []member, pointer string) *Error {
	seen := make(map[string]string, len(members))
	for i := range members {
		m := &members[i]
		if !m.valid {
			return refuse(CodeInvalidRequest, RuleName, pointer, m.key.start)
		}
		folded := fold(m.name)
		if first, twice := seen[folded]; twice {
			return refuse(CodeInvalidRequest, twinRule(first, m.name), v.place(pointer, folded), m.key.start)
		}
		seen[folded] = m.name
		if known, ok := v[folded]; ok && known != m.name {
			return refuse(CodeInvalidRequest, RuleCaseVariant, v.place(pointer, folded), m.key.start)
		}
	}
	return nil
}

func twinRule(a, b string) Rule {
	if a == b {
		return RuleDuplicate
	}
	return RuleCaseVariant
}

// place points at a member that the protocol knows; other names may be data
// and are not printed.
func (v vocabulary) place(pointer, folded string) string {
	if known, ok := v[folded]; ok {
		return canon.JoinPointer(pointer, known)
	}
	return pointer + "/<unknown>"
}

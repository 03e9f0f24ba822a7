package wire

import "bytes"

// Kind says what a message is.
type Kind uint8

// The kinds. No parsed message has the zero Kind.
const (
	KindInvalid      Kind = iota
	KindRequest           // method and id: wants an answer
	KindNotification      // method without id
	KindResult            // a response that holds result
	KindError             // a response that holds error; the id may be missing
)

var kindNames = [...]string{"invalid", "request", "notification", "result", "error"}

// String returns the kind in lowercase.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[KindInvalid]
}

// Limits bound one frame. A field that is zero or negative means its default.
type Limits struct {
	MaxFrame int // bytes; default DefaultMaxFrame
	MaxDepth int // nesting of the whole frame, at most CeilingDepth; default DefaultMaxDepth
}

// The default limits, and the highest depth: that of the recursion here.
const (
	DefaultMaxFrame = 10 << 20
	DefaultMaxDepth = 256
	CeilingDepth    = 1000
)

func (l Limits) frame() int {
	if l.MaxFrame <= 0 {
		return DefaultMaxFrame
	}
	return l.MaxFrame
}

func (l Limits) depth() int {
	if l.MaxDepth <= 0 {
		return DefaultMaxDepth
	}
	return min(l.MaxDepth, CeilingDepth)
}

// Message is one strictly parsed JSON-RPC 2.0 message: its bytes, and where
// their parts are. It is immutable; slices it returns share its bytes and
// must not be written to.
type Message struct {
	frame       []byte
	limits      Limits
	kind        Kind
	id          ID
	method      string
	name        string
	root        span // the envelope object
	params      span
	result      span
	fault       span
	args        span
	idAt        span
	meta        span    // of params
	metaLengths lengths // of the names in it
	era         string  // that a request names in _meta
}

// Parse reads one frame. It keeps frame; the caller gives it up. Every
// failure is an [*Error].
func Parse(frame []byte, limits Limits) (*Message, error) {
	if len(frame) > limits.frame() {
		var f finder
		f.feed(frame)
		return nil, f.refusal(RuleSize)
	}
	m, err := parse(frame, limits)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func parse(frame []byte, limits Limits) (*Message, *Error) {
	root, err := scanDocument(frame, limits.depth())
	if err != nil {
		return nil, unscanned(frame, err)
	}
	switch frame[root.start] {
	case '{':
	case '[':
		return nil, answerable(refuse(CodeInvalidRequest, RuleBatch, "", root.start))
	default:
		return nil, answerable(refuse(CodeInvalidRequest, RuleNotObject, "", root.start))
	}
	m := &Message{frame: frame, limits: limits, root: root}
	var room [fewMembers]member
	members := appendMembers(room[:0], frame, root)
	if err := m.envelope(members); err != nil {
		err.ID, err.Answerable = surviving(frame, members)
		return nil, err
	}
	return m, nil
}

// unscanned completes the refusal of a frame that has no scanned members.
func unscanned(frame []byte, err *Error) *Error {
	if err.Rule != RuleDepth {
		return answerable(err) // not JSON: nothing in it can be trusted
	}
	var f finder
	f.feed(frame)
	deep := f.refusal(RuleDepth)
	deep.Offset = err.Offset
	return deep
}

func answerable(err *Error) *Error {
	err.Answerable = true
	return err
}

// surviving returns the id of a refused envelope if it is there once, and
// whether the envelope may be answered.
func surviving(frame []byte, members []member) (id ID, answer bool) {
	ids, methods := 0, 0
	for _, m := range members {
		switch fold(m.name) {
		case "id":
			ids++
			if m.name == "id" {
				id, _ = ParseID(m.value.of(frame))
			}
		case "method":
			methods++
		}
	}
	if ids > 1 {
		id = ID{}
	}
	return id, methods > 0 == (ids > 0)
}

func (m *Message) envelope(members []member) *Error {
	if err := envelopeNames.strict(members, ""); err != nil {
		return err
	}
	var version, id, method span
	for _, x := range members {
		switch x.name {
		case "jsonrpc":
			version = x.value
		case "id":
			id = x.value
		case "method":
			method = x.value
		case "params":
			m.params = x.value
		case "result":
			m.result = x.value
		case "error":
			m.fault = x.value
		}
	}
	if string(version.of(m.frame)) != `"2.0"` {
		return refuse(CodeInvalidRequest, RuleVersion, "/jsonrpc", -1)
	}
	if err := m.classify(id, method); err != nil {
		return err
	}
	return m.readParams()
}

// classify applies JSON-RPC 2.0 §4 and §5.
func (m *Message) classify(id, method span) *Error {
	switch {
	case method.found() && !m.result.found() && !m.fault.found():
		m.kind = KindNotification
		if id.found() {
			m.kind = KindRequest
		}
	case !method.found() && !m.params.found() && m.result.found() != m.fault.found():
		m.kind = KindResult
		if m.fault.found() {
			m.kind = KindError
		}
	default:
		return refuse(CodeInvalidRequest, RuleShape, "", m.root.start)
	}
	if err := m.readID(id); err != nil {
		return err
	}
	if m.kind == KindError && m.frame[m.fault.start] != '{' {
		return refuse(CodeInvalidRequest, RuleShape, "/error", m.fault.start)
	}
	return m.readMethod(method)
}

// readID: an error response to a message that could not be read has no id
// (MCP) or null (JSON-RPC 2.0 §5); nothing else may lack one.
func (m *Message) readID(id span) *Error {
	if m.kind == KindNotification {
		return nil
	}
	raw := id.of(m.frame)
	if m.kind == KindError && (len(raw) == 0 || string(raw) == "null") {
		return nil
	}
	var ok bool
	if m.id, ok = scannedID(raw); !ok {
		return refuse(CodeInvalidRequest, RuleID, "/id", id.start)
	}
	m.idAt = id
	return nil
}

func (m *Message) readMethod(method span) *Error {
	if !method.found() {
		return nil
	}
	name, ok := nameOf(m.frame, method)
	if !ok || name == "" {
		return refuse(CodeInvalidRequest, RuleMethod, "/method", method.start)
	}
	m.method = name
	return nil
}

// nameOf is textAt for a text that is often a known one.
func nameOf(src []byte, where span) (text string, ok bool) {
	if where.found() && src[where.start] == '"' {
		if known, ok := met[string(src[where.start+1:where.end-1])]; ok {
			return known, true
		}
	}
	return textAt(src, where)
}

// met are texts that are met all the time; they are not copied.
var met = map[string]string{"tools/call": "tools/call", "tools/list": "tools/list", FirstStateless: FirstStateless}

// textAt decodes the string at where; ok is false for any other kind and for
// lone surrogates.
func textAt(src []byte, where span) (text string, ok bool) {
	if !where.found() || src[where.start] != '"' {
		return "", false
	}
	return unquote(where.of(src))
}

func (m *Message) readParams() *Error {
	if !m.params.found() {
		return m.requireName(span{})
	}
	if m.frame[m.params.start] != '{' {
		return refuse(CodeInvalidParams, RuleParams, "/params", m.params.start)
	}
	var room [fewMembers]member
	members := appendMembers(room[:0], m.frame, m.params)
	if err := paramsNames.strict(members, "/params"); err != nil {
		err.Code = CodeInvalidParams
		return err
	}
	var name, meta span
	for _, x := range members {
		switch x.name {
		case "name":
			name = x.value
		case "arguments":
			m.args = x.value
		case "_meta":
			meta = x.value
		}
	}
	if err := m.checkMeta(meta); err != nil {
		return err
	}
	return m.requireName(name)
}

func (m *Message) checkMeta(meta span) *Error {
	if !meta.found() {
		return nil
	}
	if m.frame[meta.start] != '{' {
		return refuse(CodeInvalidParams, RuleParams, "/params/_meta", meta.start)
	}
	var room [fewMembers]member
	members := appendMembers(room[:0], m.frame, meta)
	if err := metaNames.strict(members, "/params/_meta"); err != nil {
		err.Code = CodeInvalidParams
		return err
	}
	m.meta = meta
	for i := range members {
		m.metaLengths.note(members[i].name)
		if members[i].name == metaProtocolVersion && m.frame[members[i].value.start] == '"' {
			m.era, _ = nameOf(m.frame, members[i].value)
		}
	}
	return nil
}

// requireName: the methods that name what they call must do so with a string.
func (m *Message) requireName(name span) *Error {
	text, ok := textAt(m.frame, name)
	m.name = text
	if m.method != "tools/call" && m.method != "prompts/get" {
		return nil
	}
	if !ok || text == "" {
		return refuse(CodeInvalidParams, RuleToolName, "/params/name", max(name.start, m.params.start))
	}
	return nil
}

// Bytes returns the whole frame as it was read.
func (m *Message) Bytes() []byte { return m.frame }

// Kind says what the message is.
func (m *Message) Kind() Kind { return m.kind }

// ID returns the id; zero for notifications and for error responses to
// messages that could not be read.
func (m *Message) ID() ID { return m.id }

// Method returns the decoded method; "" for responses.
func (m *Message) Method() string { return m.method }

// Name returns params.name, the tool or prompt that is called. It is never
// "" for tools/call and prompts/get; elsewhere "" also stands for a name
// that is not a string.
func (m *Message) Name() string { return m.name }

// Params returns the raw params object, nil if absent.
func (m *Message) Params() []byte { return raw(m.frame, m.params) }

// Arguments returns the raw bytes of params.arguments, of whatever kind; nil
// if absent.
func (m *Message) Arguments() []byte { return raw(m.frame, m.args) }

// Result returns the raw result, nil if absent.
func (m *Message) Result() []byte { return raw(m.frame, m.result) }

// Fault returns the raw error object of an error response, nil if absent.
func (m *Message) Fault() []byte { return raw(m.frame, m.fault) }

// Equal reports whether two messages have the same bytes.
func (m *Message) Equal(other *Message) bool { return bytes.Equal(m.frame, other.frame) }

func raw(src []byte, where span) []byte {
	if !where.found() {
		return nil
	}
	return where.of(src)
}

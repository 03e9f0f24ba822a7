package wire

import "strconv"

// NewRequest builds a request with the raw params object; nil is "no params".
func NewRequest(id ID, method string, params []byte) (*Message, error) {
	if id.IsZero() {
		return nil, refuse(CodeInternal, RuleID, "/id", -1)
	}
	return called(id, method, params)
}

// NewNotification builds a notification with the raw params object; nil is
// "no params".
func NewNotification(method string, params []byte) (*Message, error) {
	return called(ID{}, method, params)
}

func called(id ID, method string, params []byte) (*Message, error) {
	members := []field{{"method", appendText(nil, method)}}
	if params != nil {
		members = append(members, field{"params", params})
	}
	return enveloped(id, members)
}

// NewResult builds a response with the raw result.
func NewResult(id ID, result []byte) (*Message, error) {
	if id.IsZero() {
		return nil, refuse(CodeInternal, RuleID, "/id", -1)
	}
	return enveloped(id, []field{{"result", result}})
}

// NewError builds an error response; data is raw JSON, nil is "no data". A
// zero id is left out: MCP allows a missing id here, but not null.
func NewError(id ID, code Code, message string, data []byte) (*Message, error) {
	members := []field{
		{"code", strconv.AppendInt(nil, int64(code), 10)},
		{"message", appendText(nil, message)},
	}
	if data != nil {
		members = append(members, field{"data", data})
	}
	fault, err := objectOf(members)
	if err != nil {
		return nil, err
	}
	return enveloped(id, []field{{"error", fault}})
}

// ToolResult is an answer of our own to tools/call.
type ToolResult struct {
	// Text is the one plain sentence that the model reads.
	Text string
	// Data is a second text, for programs; "" leaves it out.
	Data string
	// IsError is always written, also when false.
	IsError bool
	// Structured is the raw structuredContent; nil leaves it out.
	Structured []byte
	// ResultType is "complete" or "input_required" for clients of the
	// stateless era (2026-07-28), which requires it; "" leaves it out.
	ResultType string
	// Meta is the raw _meta object; nil leaves it out.
	Meta []byte
}

// NewToolResult builds the response to a tools/call request.
func NewToolResult(id ID, r ToolResult) (*Message, error) {
	var members []field
	if r.ResultType != "" {
		members = append(members, field{"resultType", appendText(nil, r.ResultType)})
	}
	content, err := textContent(r.Text, r.Data)
	if err != nil {
		return nil, err
	}
	members = append(members,
		field{"content", content},
		field{"isError", strconv.AppendBool(nil, r.IsError)})
	if r.Structured != nil {
		members = append(members, field{"structuredContent", r.Structured})
	}
	if r.Meta != nil {
		members = append(members, field{"_meta", r.Meta})
	}
	result, err := objectOf(members)
	if err != nil {
		return nil, err
	}
	return NewResult(id, result)
}

// textContent is a content array of one text, or of two.
func textContent(text, data string) ([]byte, error) {
	out, err := objectOf([]field{{"type", []byte(`"text"`)}, {"text", appendText(nil, text)}})
	if err != nil {
		return nil, err
	}
	out = append([]byte{'['}, out...)
	if data != "" {
		second, err := objectOf([]field{{"type", []byte(`"text"`)}, {"text", appendText(nil, data)}})
		if err != nil {
			return nil, err
		}
		out = append(append(out, ','), second...)
	}
	return append(out, ']'), nil
}

// field is a member of an object that is built: a name that needs no
// escaping, and a raw value.
type field struct {
	name  string
	value []byte
}

// objectOf builds an object. Each value is scanned by itself, so that none
// can close the object early and smuggle members in.
func objectOf(members []field) ([]byte, error) {
	out := []byte{'{'}
	for i, m := range members {
		where, err := scanDocument(m.value, DefaultMaxDepth)
		if err != nil {
			err.Code, err.Pointer = CodeInternal, "/"+m.name
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), m.name...), `":`...)
		out = append(out, where.of(m.value)...)
	}
	return append(out, '}'), nil
}

func enveloped(id ID, members []field) (*Message, error) {
	all := []field{{"jsonrpc", []byte(`"2.0"`)}}
	if !id.IsZero() {
		all = append(all, field{"id", id.Raw()})
	}
	frame, err := objectOf(append(all, members...))
	if err != nil {
		return nil, err
	}
	m, fault := parse(frame, Limits{})
	if fault != nil {
		return nil, fault
	}
	return m, nil
}

package wire

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// The headers of the Streamable HTTP transport that repeat parts of the body
// (MCP 2026-07-28, "Request Metadata"), in the form that net/http uses as
// keys.
const (
	HeaderVersion     = "Mcp-Protocol-Version"
	HeaderMethod      = "Mcp-Method"
	HeaderName        = "Mcp-Name"
	HeaderParamPrefix = "Mcp-Param-"
)

// FirstStateless is the first revision whose requests name their version in
// the body. Versions are dates and sort as text.
const FirstStateless = "2026-07-28"

// Header is one HTTP header; the value is encoded already.
type Header struct{ Name, Value string }

const (
	sentinelStart = "=?base64?"
	sentinelEnd   = "?="
)

// EncodeHeader returns text as a header value: as it is where it is plain,
// else as "=?base64?...?=" (MCP 2026-07-28, "Value Encoding").
func EncodeHeader(text string) string {
	if plainHeader(text) && strings.Trim(text, " \t") == text && !wrappedHeader(text) {
		return text
	}
	return sentinelStart + base64.StdEncoding.EncodeToString([]byte(text)) + sentinelEnd
}

// DecodeHeader reverses EncodeHeader. ok is false for characters that no
// header may have, Base64 that is not canonical, and text that is not UTF-8.
func DecodeHeader(value string) (text string, ok bool) {
	if !plainHeader(value) {
		return "", false
	}
	if !wrappedHeader(value) {
		return value, true
	}
	inner := value[len(sentinelStart) : len(value)-len(sentinelEnd)]
	raw, err := base64.StdEncoding.Strict().DecodeString(inner)
	if err != nil || !utf8.Valid(raw) {
		return "", false
	}
	return string(raw), true
}

func plainHeader(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '\t' && (c < 0x20 || c > 0x7e) {
			return false
		}
	}
	return true
}

func wrappedHeader(s string) bool {
	return len(s) >= len(sentinelStart)+len(sentinelEnd) &&
		strings.HasPrefix(s, sentinelStart) && strings.HasSuffix(s, sentinelEnd)
}

// nameSource is the member that Mcp-Name repeats, "" for most methods. The
// header is required where must is true.
func nameSource(method string) (pointer string, must bool) {
	switch method {
	case "tools/call", "prompts/get":
		return "/params/name", true
	case "resources/read":
		return "/params/uri", true
	case "tasks/get", "tasks/update", "tasks/cancel":
		return "/params/taskId", false
	default:
		return "", false
	}
}

// headerName returns the text that Mcp-Name must have.
func (m *Message) headerName() (text string, found, must bool) {
	pointer, must := nameSource(m.method)
	if pointer == "" {
		return "", false, false
	}
	where, found, err := m.locate(pointer)
	if err != nil || !found {
		return "", false, must
	}
	text, found = textAt(m.frame, where)
	return text, found, must
}

// Headers returns the headers that a request of the stateless era must carry,
// computed from the body that is sent and from nothing else. It fails if the
// body names no protocol version, or lacks the member that Mcp-Name repeats.
func (m *Message) Headers() ([]Header, error) {
	version := m.ProtocolVersion()
	name, found, must := m.headerName()
	if m.kind != KindRequest || version == "" || must && !found || !plainHeader(version+m.method) {
		return nil, m.headerFault("")
	}
	list := []Header{{HeaderVersion, version}, {HeaderMethod, m.method}}
	if found {
		list = append(list, Header{HeaderName, EncodeHeader(name)})
	}
	return list, nil
}

// CheckHeaders refuses a message whose HTTP headers (keys as in net/http) say
// something else than its body, with code [CodeHeaderMismatch]. A request of
// the stateless era must have the headers: absent is an error, never equal.
// Requests of earlier revisions may lack them, but what is there must agree.
func (m *Message) CheckHeaders(header map[string][]string) error {
	version := m.ProtocolVersion()
	required := m.kind == KindRequest && version != ""
	if stated := header[HeaderVersion]; version != "" || len(stated) > 1 || len(stated) == 1 && stated[0] >= FirstStateless {
		if fault := m.agree(header, HeaderVersion, version, version != "", required); fault != nil {
			return fault
		}
	}
	if fault := m.agree(header, HeaderMethod, m.method, m.method != "", required); fault != nil {
		return fault
	}
	name, found, must := m.headerName()
	if fault := m.agree(header, HeaderName, name, found, required && must); fault != nil {
		return fault
	}
	return nil
}

// agree compares one header with the body. Only Mcp-Name may be encoded.
func (m *Message) agree(header map[string][]string, name, want string, found, required bool) *Error {
	values := header[name]
	if len(values) == 0 && !required {
		return nil
	}
	if len(values) != 1 || !found {
		return m.headerFault(name)
	}
	got, ok := values[0], plainHeader(values[0])
	if name == HeaderName {
		got, ok = DecodeHeader(values[0])
	}
	if !ok || got != want {
		return m.headerFault(name)
	}
	return nil
}

func (m *Message) headerFault(name string) *Error {
	err := refuse(CodeHeaderMismatch, RuleHeader, "", -1)
	if name != "" {
		err.Pointer = "header " + name
	}
	err.ID, err.Answerable = m.id, m.kind == KindRequest
	return err
}

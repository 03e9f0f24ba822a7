package endpoint

import (
	"errors"
	"net/http"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// headerKey carries the idempotency key of a call (IETF draft
// httpapi-idempotency-key-header), for clients that cannot write _meta.
const headerKey = "Idempotency-Key"

// maxKey is the longest key in bytes.
const maxKey = 255

// keyed puts the key of the header into _meta, where the gateway looks for it.
// A header that is no key, or names another one than _meta, refuses the call:
// whoever sends a key counts on it.
func keyed(m *wire.Message, h http.Header) (*wire.Message, error) {
	values := h.Values(headerKey)
	if len(values) == 0 || m.Kind() != wire.KindRequest || m.Method() != "tools/call" {
		return m, nil
	}
	key, ok := headerText(values)
	if !ok {
		return nil, unlike()
	}
	raw := canon.StringValue(key).Canonical()
	said, found, err := m.Meta(wire.MetaIdempotencyKey)
	if err != nil {
		return nil, unlike()
	}
	if !found {
		return m.WithMeta(wire.MetaIdempotencyKey, raw)
	}
	v, err := canon.Decode(said, canon.Options{})
	if err != nil || v.Kind() != canon.String || v.Text() != key {
		return nil, unlike()
	}
	return m, nil
}

func unlike() error {
	return &wire.Error{Code: wire.CodeHeaderMismatch, Rule: wire.RuleHeader, Pointer: "header " + headerKey, Offset: -1}
}

// headerText reads the one value: a quoted string as the draft wants it, or
// the same text without quotes, as clients write it. Both are one key.
func headerText(values []string) (string, bool) {
	if len(values) != 1 {
		return "", false
	}
	text := values[0]
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' || c == '"' || c == '\\' || c == ',' || c == ';' {
			return "", false
		}
	}
	return text, text != "" && len(text) <= maxKey
}

// ErrKey says that the header Idempotency-Key is there, and is no one key.
var ErrKey = errors.New("the header " + headerKey + " is not one key of 1 to 255 visible characters")

// IdempotencyKey reads the header of a request that is no MCP message; "" if
// there is none. It fails with ErrKey.
func IdempotencyKey(h http.Header) (string, error) {
	values := h.Values(headerKey)
	if len(values) == 0 {
		return "", nil
	}
	key, ok := headerText(values)
	if !ok {
		return "", ErrKey
	}
	return key, nil
}

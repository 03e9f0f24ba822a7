package wire

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// maxIDBytes bounds an id, which is copied into tables and answers.
const maxIDBytes = 256

// ID is the id of a request and of its response: a string or an integer
// (MCP "RequestId"). It keeps the sender's bytes, so that an answer repeats
// them exactly. The zero ID is "no id". Do not compare with ==: "a" and
// "\u0061" are one id; use [ID.Key].
type ID struct {
	raw string
	key string
}

// NumberID returns the integer id n.
func NumberID(n int64) ID {
	raw := strconv.FormatInt(n, 10)
	return ID{raw: raw, key: raw}
}

// StringID returns the string id s. Invalid UTF-8 becomes U+FFFD.
func StringID(s string) ID {
	raw := string(appendText(nil, s))
	return ID{raw: raw, key: raw}
}

// ParseID reads a raw id. ok is false for null, fractions, exponents, -0,
// strings that are not Unicode, more than 256 bytes, and all other kinds.
func ParseID(raw []byte) (_ ID, ok bool) {
	if len(raw) == 0 || len(raw) > maxIDBytes {
		return ID{}, false
	}
	if where, err := scanDocument(raw, 1); err != nil || where.end-where.start != len(raw) {
		return ID{}, false
	}
	return scannedID(raw)
}

// scannedID is ParseID for one JSON value of a frame that was scanned.
func scannedID(raw []byte) (_ ID, ok bool) {
	if len(raw) == 0 || len(raw) > maxIDBytes {
		return ID{}, false
	}
	if raw[0] == '"' {
		text, valid := unquote(raw)
		if !valid {
			return ID{}, false
		}
		return ID{raw: string(raw), key: StringID(text).key}, true
	}
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		return ID{}, false
	}
	if bytes.ContainsAny(raw, ".eE") || string(raw) == "-0" {
		return ID{}, false
	}
	text := string(raw)
	return ID{raw: text, key: text}, true
}

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.raw == "" }

// Raw returns the sender's bytes.
func (id ID) Raw() []byte { return []byte(id.raw) }

// Key returns a text that is equal for equal ids only: 1 and "1" differ, "a"
// and "\u0061" do not. It is for maps, not for the wire.
func (id ID) Key() string { return id.key }

// appendText appends s as a JSON string in its RFC 8785 form.
func appendText(dst []byte, s string) []byte {
	return canon.StringValue(strings.ToValidUTF8(s, "\uFFFD")).AppendTo(dst)
}

// Text decodes a raw JSON string, such as [Message.Member] returns. ok is
// false for any other kind of value and for lone surrogates.
func Text(raw []byte) (text string, ok bool) {
	where, err := scanDocument(raw, 1)
	if err != nil {
		return "", false
	}
	return textAt(raw, where)
}

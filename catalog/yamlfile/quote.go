package yamlfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/seed-de4804fb/verbatim/canon"
)

// quote writes a double-quoted YAML string. What does not print is escaped,
// so that a reviewer sees it.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// comment makes one line of text that cannot end the comment.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

// block writes a definition as a literal block, one member a line, so that a
// changed definition shows as a readable difference. A definition without an
// exact RFC 8785 form is hashed as it is, so it is written as it is.
func block(raw []byte, indent string) string {
	v, err := canon.Decode(raw, canon.Options{MaxBytes: MaxFileBytes, Exact: true})
	if err != nil {
		return quote(string(raw)) + "\n"
	}
	var b bytes.Buffer
	if err := json.Indent(&b, v.Canonical(), indent, "  "); err != nil {
		return quote(string(raw)) + "\n"
	}
	return "|-\n" + indent + escapeUnprintable(b.String()) + "\n"
}

// escapeUnprintable writes as JSON escapes what YAML does not take in a block
// and what would not print. In JSON such letters stand in strings only.
func escapeUnprintable(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

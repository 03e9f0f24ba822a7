package approval

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxReason bounds what a person writes beside a decision, in characters.
const MaxReason = 500

// Reason cleans what a person wrote beside a decision: spaces around it go,
// and lines end in LF. It is false for what the other readers of the record
// could not see or read: invalid UTF-8, control and format characters, or more
// than MaxReason characters. What is empty stays so.
func Reason(text string) (string, bool) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > MaxReason {
		return "", false
	}
	hidden := func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }
	if strings.ContainsFunc(text, hidden) {
		return "", false
	}
	return text, true
}

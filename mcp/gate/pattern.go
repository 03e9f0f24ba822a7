package gate

import (
	"errors"
	"regexp"
	"strings"
)

// Pattern names URIs, prompts or tools: * stands for anything but a slash, **
// for anything. It is made by ParsePattern; the zero value matches nothing.
type Pattern struct{ match *regexp.Regexp }

var errPattern = errors.New("must be 1 to 512 printable characters, with * and ** as wildcards")

// ParsePattern reads a pattern.
func ParsePattern(text string) (Pattern, error) {
	if text == "" || len(text) > 512 || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Pattern{}, errPattern
	}
	var b strings.Builder
	b.WriteString("^")
	for rest := text; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			rest = rest[2:]
		case rest[0] == '*':
			b.WriteString("[^/]*")
			rest = rest[1:]
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
			rest = rest[1:]
		}
	}
	b.WriteString("$")
	match, err := regexp.Compile(b.String())
	if err != nil {
		return Pattern{}, errPattern
	}
	return Pattern{match}, nil
}

// Matches reports whether the pattern names text. Texts that are longer than
// 2048 bytes, or hold what is not visible, match nothing.
func (p Pattern) Matches(text string) bool {
	if p.match == nil || len(text) > 2048 || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' }) {
		return false
	}
	return p.match.MatchString(text)
}

// AnyMatches reports whether one of the patterns names text.
func AnyMatches(list []Pattern, text string) bool {
	for _, p := range list {
		if p.Matches(text) {
			return true
		}
	}
	return false
}

// Climbs reports whether a URI could mean another place than its text begins
// with, once a server has resolved it.
func Climbs(uri string) bool {
	low := strings.ToLower(uri)
	if strings.ContainsAny(low, `\`) || strings.Contains(low, "%2e") || strings.Contains(low, "%2f") || strings.Contains(low, "%5c") || strings.Contains(low, "%25") {
		return true
	}
	_, path, _ := strings.Cut(low, ":")
	path, _, _ = strings.Cut(path, "?")
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '#' || r == ';' }) {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}

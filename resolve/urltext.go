package resolve

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/internal/lookalike"
)

var urlTooLong = fmt.Sprintf("a URL of at most %d bytes", maxURLBytes)

// Faults of a URL, in words that hold none of it.
const (
	faultURLCharacter = "a URL without spaces, control characters and backslashes; percent-encode them"
	faultURLForm      = "a URL in the form https://HOST/PATH"
	faultURLUser      = "a URL without a user name and password"
	faultURLPercent   = "two hexadecimal digits behind each percent sign, of UTF-8 text without NUL"
	faultURLDots      = "no dot segment that is hidden by encoding or parameters, and no encoded backslash"
	faultURLControl   = "a path without encoded control characters"
)

// urlParts are the parts of a URL as they were said. The fragment is gone.
type urlParts struct {
	scheme string // in lower case
	host   string
	port   string // without colon
	path   string
	query  string // with its question mark
}

// splitURL finds the parts. It returns a fault where programs disagree on
// what the parts are.
func splitURL(s string) (p urlParts, fault string) {
	switch {
	case len(s) > maxURLBytes:
		return p, urlTooLong
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r == ' ' || r == '\\' || unicode.IsControl(r) }):
		return p, faultURLCharacter
	}
	s, _, _ = strings.Cut(s, "#")
	scheme, rest, found := strings.Cut(s, "://")
	if !found || !isScheme(scheme) {
		return p, faultURLForm
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority := rest[:end]
	switch {
	case authority == "":
		return p, faultURLForm
	case strings.Contains(authority, "@"):
		return p, faultURLUser
	}
	p.scheme = asciiLower(scheme)
	p.host, p.port = authority, ""
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
		p.host, p.port = authority[:colon], authority[colon+1:]
	}
	p.path = rest[end:]
	if q := strings.IndexByte(p.path, '?'); q >= 0 {
		p.path, p.query = p.path[:q], p.path[q:]
	}
	return p, ""
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if letter := 'a' <= c && c <= 'z'; !letter && (i == 0 || (s[i] < '0' || s[i] > '9') && !strings.ContainsRune("+-.", rune(s[i]))) {
			return false
		}
	}
	return s != ""
}

// What may stand raw in a path segment and in a query (RFC 3986 §3.3, §3.4).
const (
	unreservedSigns = "-._~"
	segmentSigns    = unreservedSigns + "!$&'()*+,;=:@"
	querySigns      = segmentSigns + "/?"
)

// normalPercent encodes every character that may not stand raw, decodes every
// one that need not be encoded (RFC 3986 §6.2.2.2) and writes the rest with
// upper-case digits. decoded is what a server reads. ok is false for a
// percent sign that encodes nothing, for NUL and for what is not UTF-8.
func normalPercent(s, signs string) (normal, decoded string, ok bool) {
	var n, d strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		encoded := c == '%'
		if encoded {
			if c, ok = percentByte(s[i:]); !ok {
				return "", "", false
			}
			i += 2
		}
		d.WriteByte(c)
		if isAlphanumeric(c) || strings.IndexByte(unreservedSigns, c) >= 0 || !encoded && strings.IndexByte(signs, c) >= 0 {
			n.WriteByte(c)
		} else {
			fmt.Fprintf(&n, "%%%02X", c)
		}
	}
	decoded = d.String()
	return n.String(), decoded, utf8.ValidString(decoded) && !strings.Contains(decoded, "\x00")
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// percentByte reads the byte that %XX at the start of s stands for.
func percentByte(s string) (byte, bool) {
	if len(s) < 3 {
		return 0, false
	}
	high, ok1 := hexDigit(s[1])
	low, ok2 := hexDigit(s[2])
	return high<<4 | low, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// normalPath resolves dot segments (RFC 3986 §5.2.4); a ".." at the root stays
// there, as in every browser.
func normalPath(path string) (normal, fault string) {
	var out []string
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, raw := range segments {
		seg, decoded, ok := normalPercent(raw, segmentSigns)
		switch {
		case !ok:
			return "", faultURLPercent
		case strings.ContainsFunc(decoded, unicode.IsControl):
			return "", faultURLControl
		case hidesDots(seg, decoded):
			return "", faultURLDots
		}
		last := i == len(segments)-1
		switch {
		case seg == ".." && len(out) > 0:
			out = out[:len(out)-1]
		case seg != "." && seg != "..":
			out = append(out, seg)
			continue
		}
		if last {
			out = append(out, "") // a dot segment at the end names a folder
		}
	}
	return "/" + strings.Join(out, "/"), ""
}

// maxPercentNesting is how often a text may be percent-encoded over and over.
const maxPercentNesting = 4

// hidesDots reports whether a segment that is no dot segment would become
// some to a server that decodes once more, takes backslashes for slashes,
// drops parameters or folds signs that look like dots.
func hidesDots(seg, decoded string) bool {
	if strings.Contains(decoded, `\`) {
		return true
	}
	plain := seg == "." || seg == ".."
	for range maxPercentNesting {
		folded := strings.Map(foldSeparator, strings.ReplaceAll(decoded, "\u2025", ".."))
		for _, piece := range strings.FieldsFunc(folded, func(r rune) bool { return r == '/' || r == '\\' }) {
			name, _, _ := strings.Cut(piece, ";")
			if (name == "." || name == "..") && !plain {
				return true
			}
		}
		_, next, ok := normalPercent(decoded, segmentSigns)
		if !ok || next == decoded {
			return false
		}
		decoded = next
	}
	return true
}

// foldSeparator maps what looks like a dot or a slash, or is one after
// compatibility normalization, to it.
func foldSeparator(r rune) rune {
	if sign, alike := lookalike.Sign(r); alike && strings.ContainsRune(`./\`, sign) {
		return sign
	}
	return r
}

// normalQuery keeps order, empty parameters and plus signs: what they mean is
// the server's affair.
func normalQuery(query string) (normal, fault string) {
	if query == "" {
		return "", ""
	}
	normal, _, ok := normalPercent(query[1:], querySigns)
	if !ok {
		return "", faultURLPercent
	}
	return "?" + normal, ""
}

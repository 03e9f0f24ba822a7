package resolve

import (
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/seed-de4804fb/verbatim/internal/lookalike"
)

// domainProfile maps names as UTS 46 says for look-ups, non-transitional (a
// sharp s stays one). Hyphens in third place are in use; lengths and the
// ASCII characters are checked by [domainASCII].
func domainProfile() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckHyphens(false), idna.CheckJoiners(true),
		idna.StrictDomainName(false), idna.Transitional(false))
}

// The longest name and label of the domain name system (RFC 1035 §2.3.4),
// without the dot of the root.
const (
	maxDomainBytes = 253
	maxLabelBytes  = 63
)

// domainASCII returns a domain name in lower-case ASCII (RFC 5890 A-labels),
// and again in Unicode. ok is false if it is no such name, or one that looks
// like another: [passesForAnother].
//
// An A-label must be exactly what its Unicode form gives, so that no name has
// two ASCII spellings.
func domainASCII(name string) (ascii string, ok bool) {
	if len(name) > 4*maxDomainBytes || halfEncoded(name) {
		return "", false // the length before the work of mapping it
	}
	p := domainProfile()
	ascii, err := p.ToASCII(name)
	if err != nil || !isDomain(ascii) {
		return "", false
	}
	text, err := p.ToUnicode(ascii)
	if err != nil {
		return "", false
	}
	if back, err := p.ToASCII(text); err != nil || back != ascii {
		return "", false
	}
	return ascii, !passesForAnother(text, ascii)
}

// halfEncoded reports whether a label says that it is in ASCII and is not; the
// library would decode it (UTS 46 §4 step 4.1 refuses it).
func halfEncoded(name string) bool {
	plain := strings.Map(func(r rune) rune {
		switch {
		case lookalike.Unseen(r):
			return -1 // as the mapping does
		case r == '\u3002':
			return '.'
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(name))
	for _, label := range strings.Split(plain, ".") {
		if strings.HasPrefix(label, "xn--") && !isASCII(label) {
			return true
		}
	}
	return false
}

// isDomain reports whether a name consists of labels of lower-case ASCII
// letters, digits, hyphens and underscores (which names of hosts in use
// have), none of them empty.
func isDomain(name string) bool {
	if len(name) > maxDomainBytes {
		return false
	}
	for _, label := range strings.Split(name, ".") {
		if label == "" || len(label) > maxLabelBytes || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			c := label[i]
			if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
				return false
			}
		}
	}
	return true
}

// passesForAnother reports whether a label passes for another one.
func passesForAnother(text, ascii string) bool {
	for _, label := range strings.Split(text, ".") {
		if wordPassesForAnother(label, latinTop(ascii)) {
			return true
		}
	}
	return false
}

// wordPassesForAnother reports whether a word mixes scripts, holds a Latin
// letter that passes for another (dotless i), something that is not seen at
// all, or, where readers expect Latin letters, only letters that pass for
// them.
func wordPassesForAnother(word string, latin bool) bool {
	for _, r := range word {
		if lookalike.Disguised(r) || lookalike.Unseen(r) {
			return true
		}
	}
	return lookalike.Mixed(word) || latin && lookalike.AllAlike(word)
}

// latinTop reports whether the top-level domain is one of Latin letters, below
// which readers expect them.
func latinTop(ascii string) bool {
	return !strings.HasPrefix(ascii[strings.LastIndexByte(ascii, '.')+1:], "xn--")
}

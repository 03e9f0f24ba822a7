package resolve

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/lookalike"
)

// RuleEmail is what a refusal of [Email] names when the text is no address.
const RuleEmail = "email"

// EmailRules is the version of the rules of [Email]. It moves when the rules
// or the tables of Unicode below them do.
const EmailRules = "email-1/idna-" + idna.UnicodeVersion

// EmailOptions configure an [Email] resolver. All are optional.
type EmailOptions struct {
	// Domains are the only ones accepted, where there are any. They match
	// exactly: a subdomain is another domain.
	Domains []string
}

// Email turns an address into the one spelling of its mailbox: the domain in
// lower-case ASCII (IDNA), the local part exactly as it was said, because
// only the domain's own server knows whether two local parts are one mailbox
// (RFC 5321 §2.4).
//
// It accepts LOCAL@DOMAIN alone (RFC 5322 dot-atom; RFC 6531 letters of other
// scripts). A quoted local part, a comment, a name before the address, angle
// brackets, white space, an address in brackets, a domain of one label and a
// list of addresses are refused: programs read them in more than one way.
// So is a part that mixes scripts or looks like another one.
type Email struct {
	domains []string
	version string
}

var _ Resolver = (*Email)(nil)

// NewEmail checks the options.
func NewEmail(opt EmailOptions) (*Email, error) {
	e := &Email{}
	for _, d := range opt.Domains {
		ascii, ok := mailDomain(d)
		if !ok {
			return nil, fmt.Errorf("domain %q is no domain name of mail", d)
		}
		e.domains = append(e.domains, ascii)
	}
	slices.Sort(e.domains)
	e.domains = slices.Compact(e.domains)
	var err error
	e.version, err = configured(EmailRules, textsMember("domains", e.domains))
	return e, err
}

// Roles tells which roles the rule of a catalog may bind.
func (e *Email) Roles() Roles { return onlyValue() }

const emailExpected = "one address such as name@example.com, without quotes, comments or a display name, in letters of one script"

// The longest address and local part (RFC 5321 §4.5.3.1).
const (
	maxAddressBytes = 254
	maxLocalBytes   = 64
)

// Resolve answers the address.
func (e *Email) Resolve(_ context.Context, in map[string]canon.Value) (Answer, error) {
	text, err := valueText(in, RuleEmail, emailExpected)
	if err != nil {
		return Answer{}, err
	}
	local, domain, found := strings.Cut(text, "@")
	ascii, ok := mailDomain(domain)
	if !found || !ok || !isLocalPart(local, latinTop(ascii)) || len(local)+1+len(ascii) > maxAddressBytes {
		return Answer{}, canon.Refuse("/"+RoleValue, RuleEmail, emailExpected)
	}
	if len(e.domains) > 0 && !slices.Contains(e.domains, ascii) {
		return Answer{}, canon.Refuse("/"+RoleValue, RuleUnresolved, "an address in a domain of the catalog")
	}
	return textAnswer(e.version, local+"@"+ascii), nil
}

// mailDomain returns the ASCII form of a domain that mail can go to: two
// labels or more, letters, digits and hyphens, and no number at the end,
// which would be an address.
func mailDomain(name string) (string, bool) {
	ascii, ok := domainASCII(name)
	if !ok || strings.Contains(ascii, "_") {
		return "", false
	}
	dot := strings.LastIndexByte(ascii, '.')
	return ascii, dot > 0 && !allDigits(ascii[dot+1:])
}

// atextSigns are the signs of RFC 5322 §3.2.3 atext.
const atextSigns = "!#$%&'*+-/=?^_`{|}~"

// isLocalPart reports whether s is a dot-atom of at most 64 bytes in NFC whose
// words do not look like others, where readers expect Latin ones.
func isLocalPart(s string, latin bool) bool {
	if s == "" || len(s) > maxLocalBytes || !norm.NFC.IsNormalString(s) {
		return false
	}
	for _, atom := range strings.Split(s, ".") {
		if atom == "" || wordPassesForAnother(atom, latin) {
			return false
		}
		for _, r := range atom {
			if !isAtomRune(r) {
				return false
			}
		}
	}
	return true
}

func isAtomRune(r rune) bool {
	if r < 0x80 {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(atextSigns, r)
	}
	if _, alike := lookalike.Sign(r); alike {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.Is(unicode.Nd, r)
}

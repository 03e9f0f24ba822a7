package catalog

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seed-de4804fb/verbatim/schema"
)

// Guess is what a member's name makes one think of. It is a hint for a
// person, never a mark.
type Guess string

// The guesses.
const (
	GuessNothing   Guess = ""
	GuessPrincipal Guess = "principal"
	GuessTenant    Guess = "tenant"
	GuessMoney     Guess = "money"
	GuessPath      Guess = "path"
	GuessURL       Guess = "url"
	GuessEmail     Guess = "email"
	GuessInstant   Guess = "instant"
	GuessSecret    Guess = "secret"
	GuessID        Guess = "id" // of a thing that is acted on
)

// Names whose words, joined by a space, end in one of these.
var guesses = []struct {
	kind  Guess
	words []string
}{
	{GuessSecret, []string{"password", "passwd", "passphrase", "secret", "api key", "apikey", "token", "access key", "private key", "credential", "credentials", "pin"}},
	{GuessTenant, []string{"tenant", "tenant id", "org", "org id", "organization", "organization id", "organisation", "organisation id",
		"workspace", "workspace id", "company id"}},
	{GuessPrincipal, []string{"user", "user id", "userid", "username", "user name", "login", "principal", "principal id", "actor", "actor id",
		"on behalf of", "acting user", "impersonate", "run as", "requested by", "requester", "created by", "updated by", "submitted by",
		"approved by", "initiated by", "employee id", "customer id", "owner id", "sender", "sender id", "from user", "author", "author id"}},
	{GuessMoney, []string{"amount", "price", "total", "subtotal", "cost", "fee", "balance", "payment", "refund", "budget", "salary", "limit amount"}},
	{GuessPath, []string{"path", "paths", "file", "filename", "file name", "filepath", "dir", "directory", "folder", "source", "destination"}},
	{GuessURL, []string{"url", "uri", "link", "href", "endpoint", "webhook"}},
	{GuessEmail, []string{"email", "emails", "e mail", "mail", "email address", "email addresses", "mail address", "cc", "bcc"}},
	{GuessInstant, []string{"timestamp", "datetime", "date time", "deadline", "start time", "end time", "starts at", "ends at", "start at", "end at",
		"expires", "expires at", "expiry", "scheduled at", "scheduled for", "send at", "due at", "not before", "not after"}},
	{GuessID, []string{"id", "ids", "iban", "account", "account number", "recipient", "vendor", "payee"}},
}

// formats are what a declared format makes one think of.
var formats = map[string]Guess{
	"uri": GuessURL, "url": GuessURL, "iri": GuessURL, "uri-reference": GuessURL, "email": GuessEmail, "idn-email": GuessEmail, "date-time": GuessInstant,
}

// GuessMember says what a declared member looks like. Type decides too: an
// amount is a number or a string, an identity is text or a list of it. A
// format says more than a name does, unless the name is about who acts or
// what must not be seen.
func GuessMember(name string, n *schema.Node) Guess {
	text, format := words(name), formatOf(n)
	for _, g := range guesses {
		if !slices.ContainsFunc(g.words, func(w string) bool { return text == w || strings.HasSuffix(text, " "+w) }) {
			continue
		}
		if format != GuessNothing && !slices.Contains([]Guess{GuessSecret, GuessTenant, GuessPrincipal}, g.kind) {
			return format
		}
		if fits(g.kind, n) {
			return g.kind
		}
	}
	return format
}

// formatOf is the guess by the format of a text, or of each text in a list.
func formatOf(n *schema.Node) Guess {
	switch {
	case n == nil:
		return GuessNothing
	case n.Types&schema.TypeString != 0 && formats[n.Format] != "":
		return formats[n.Format]
	case n.Types&schema.TypeArray != 0 && n.Items != nil && n.Items.Types&schema.TypeString != 0:
		return formats[n.Items.Format]
	}
	return GuessNothing
}

func fits(kind Guess, n *schema.Node) bool {
	if n == nil {
		return true
	}
	switch kind {
	case GuessMoney:
		return n.Types&(schema.TypeNumber|schema.TypeInteger|schema.TypeString) != 0
	case GuessPath, GuessURL, GuessEmail, GuessInstant, GuessSecret:
		return n.Types&(schema.TypeString|schema.TypeArray) != 0
	default:
		return n.Types&(schema.TypeString|schema.TypeArray|schema.TypeInteger|schema.TypeNumber) != 0
	}
}

// words splits userId, user_id, USER-ID and UserID into "user id".
func words(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			b.WriteByte(' ')
			continue
		}
		afterLower := i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]))
		beforeLower := i > 0 && i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1])
		if unicode.IsUpper(r) && (afterLower || beforeLower) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

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
	{GuessID, []string{"id", "ids", "iban", "account", "account number", "recipient", "vendor", "payee"}},
}

// GuessMember says what a declared member looks like. Type decides too: an
// amount is a number or a string, an identity is text or a list of it.
func GuessMember(name string, n *schema.Node) Guess {
	text := words(name)
	for _, g := range guesses {
		if !slices.ContainsFunc(g.words, func(w string) bool { return text == w || strings.HasSuffix(text, " "+w) }) {
			continue
		}
		if fits(g.kind, n) {
			return g.kind
		}
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
	case GuessPath, GuessURL, GuessSecret:
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

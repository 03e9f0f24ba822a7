package yamlfile_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/schema"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// The example of the documentation loads, and its two spellings are one
// action.
func TestDocumentedCatalogWorks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/catalog.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no example")
	}
	tools, err := yamlfile.Decode("docs/catalog.md", []byte(example), ".")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	tool, _ := c.Tool("transfer")
	session := identity.Session{Tenant: "acme", Principal: "alice", Agent: "a"}
	first := walk(t, tool, session, `{"vendor":"acme","amount":8.4,"unit":"thousand","currency":"$"}`)
	second := walk(t, tool, session, `{"vendor":"VENDOR-001","amount":"8400","currency":"USD"}`)
	want := `{"amountMinor":840000,"currency":"USD","requestedBy":"alice","vendorId":"VENDOR-001"}`
	if first.Args.Text() != want || first.Hash != second.Hash {
		t.Errorf("%s\n%s", first.Args.Text(), second.Args.Text())
	}
}

// Every answer that the page promises is given.
func TestDocumentedAnswersAreGiven(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/catalog.md")
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]func() (resolve.Resolver, error){
		"url":     func() (resolve.Resolver, error) { return resolve.NewURL(resolve.URLOptions{}) },
		"email":   func() (resolve.Resolver, error) { return resolve.NewEmail(resolve.EmailOptions{}) },
		"instant": func() (resolve.Resolver, error) { return resolve.NewInstant(resolve.InstantOptions{}) },
		"quantity": func() (resolve.Resolver, error) {
			return resolve.NewQuantity(resolve.QuantityOptions{Dimension: "bytes", Base: "B"})
		},
	}
	rows := regexp.MustCompile("(?m)^\\| `([a-z]+)`(?: in bytes)? \\| `([^`]+)` \\| `([^`]+)` \\|$").FindAllStringSubmatch(string(page), -1)
	tried := 0
	for _, row := range rows {
		kind, ok := made[row[1]]
		if !ok {
			continue
		}
		tried++
		r, err := kind()
		if err != nil {
			t.Fatal(err)
		}
		role := "value"
		if row[1] == "quantity" {
			role = "text"
		}
		a, err := r.Resolve(t.Context(), map[string]canon.Value{role: canon.StringValue(row[2])})
		got := strings.Trim(string(a.Values["value"].Canonical()), `"`)
		if vs := (canon.Violations{}); errors.As(err, &vs) {
			got = vs[0].Rule
		}
		if got != row[3] {
			t.Errorf("%s of %s: got %s, the page says %s", row[1], row[2], got, row[3])
		}
	}
	if tried < 13 {
		t.Errorf("only %d answers found", tried)
	}
}

// The resolvers of the page load.
func TestDocumentedResolversLoad(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/catalog.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```yaml\nresolvers:\n")
	example, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("no example of resolvers")
	}
	if _, err := yamlfile.Decode("docs/catalog.md", []byte("version: \"1\"\nresolvers:\n"+example), realDir(t, "reports")); err != nil {
		t.Error(err)
	}
}

// walk goes from text to a proposal as the gate does.
func walk(t testing.TB, tool *catalog.Tool, s identity.Session, args string) snapshot.Proposal {
	t.Helper()
	v, err := canon.Decode([]byte(args), canon.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	found, err := identity.Fills(s, tool.Identity)
	if err != nil {
		t.Fatal(err)
	}
	var fills []schema.Fill
	for _, f := range found {
		fills = append(fills, schema.Fill(f))
	}
	parsed, _, err := tool.Proposal.Apply(v, fills)
	if err != nil {
		t.Fatal(err)
	}
	resolved, _, _, err := resolve.Apply(t.Context(), tool.Resolvers, parsed, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := tool.Own.Validate(resolved); err != nil {
		t.Fatal(err)
	}
	if err := identity.Check(s, tool.Identity, resolved); err != nil {
		t.Fatal(err)
	}
	frozen, err := snapshot.Freeze(resolved)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.Propose(s.Agent, tool.Name, frozen)
}

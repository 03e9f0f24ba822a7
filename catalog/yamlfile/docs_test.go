package yamlfile_test

import (
	"os"
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

package cedar_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/policy/cedar"
)

var fence = regexp.MustCompile("(?s)```(cedar|cedar-refused)\n(.*?)```")

// docsTools is the catalog that docs/policy.md describes in its table.
func docsTools() []cedar.ToolModel {
	return []cedar.ToolModel{
		{Name: "bank.balance", Group: "read", Root: object(must("account", text()))},
		{Name: "bank.pay", Group: "high_impact", Targets: []string{"vendor"}, Root: object(
			must("amountMinor", integer()), must("currency", text()), must("vendorId", text()), may("rate", number()),
			may("note", text()), may("region", nullable(text())), may("tags", list(text())),
			may("to", object(must("id", text()), may("fee", number()))))},
		{Name: "mail.send", Group: "high_impact", Root: object(must("to", list(text())), must("body", text()))},
		{Name: "files.write", Group: "mutation", Root: object(must("path", text()), must("content", text()))},
	}
}

func TestEverySnippetOfTheGuideLoadsOrIsRefusedAsItSays(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := fence.FindAllStringSubmatch(string(guide), -1)
	if len(blocks) < 10 {
		t.Fatalf("only %d snippets found", len(blocks))
	}
	for _, block := range blocks {
		_, err := cedar.LoadModels(map[string][]byte{"guide": []byte(block[2])}, docsTools(), cedar.Options{})
		if loads := err == nil; loads != (block[1] == "cedar") {
			t.Errorf("%s: %v\n%s", block[1], err, block[2])
		}
	}
}

func TestGuideShowsTheBuiltinPolicyAndEveryAnnotation(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, source := cedar.Builtin()
	for line := range strings.Lines(string(source)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "//") || strings.HasPrefix(line, "@public_reason") {
			continue
		}
		if !strings.Contains(string(guide), line) {
			t.Errorf("the guide lacks %q", line)
		}
	}
	for _, word := range []string{"@id", "@public_reason", "@decision", "@groups", "@ttl", "@pending_ttl", "@step_up", "@impact",
		"args", "agent", "owner", "task", "grant", "grant_exact", "turn", "taint", "now", "changes", "confusable", "nulls", "resolvers", "targets", "approval", "tool"} {
		if !strings.Contains(string(guide), "`"+word) && !strings.Contains(string(guide), "`context."+word+"`") {
			t.Errorf("the guide lacks %q", word)
		}
	}
}

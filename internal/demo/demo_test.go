package demo_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/demo"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
)

func paper() (*demo.Paper, *bytes.Buffer) {
	var out bytes.Buffer
	return &demo.Paper{Out: &out, Plain: func(s string) string { return s }}, &out
}

func TestTheDemoFailsWhereTheLedgerDiffers(t *testing.T) {
	t.Parallel()
	p, _ := paper()
	dir := t.TempDir()
	s := demo.NewStage(config.Home(dir), p)
	if err := s.LedgerHolds(); err != nil {
		t.Fatalf("an empty ledger: %v", err)
	}
	if err := demo.AppendLedger(filepath.Join(dir, demo.LedgerFile), demo.Payment{VendorID: "VENDOR-001", AmountMinor: 84000, Currency: "USD", UserID: "u"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Unchanged(demo.FirstPayment); err != nil {
		t.Fatalf("the payment that was made: %v", err)
	}
	var surprise *demo.Surprise
	for _, want := range [][]string{nil, {demo.FirstPayment, demo.FirstPayment}, {"USD 840.01 to VENDOR-001"}, {"USD 840.00 to VENDOR-002"}} {
		if err := s.LedgerHolds(want...); !errors.As(err, &surprise) {
			t.Errorf("want %q: got %v, want a Surprise", want, err)
		}
	}
}

func TestALedgerThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), demo.LedgerFile)
	if err := os.WriteFile(path, []byte(`{"vendor_id":"V","amount_minor":1,"currency":"USD","user_id":"u","user_id":"v"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if paid, err := demo.ReadLedger(path); err == nil {
		t.Errorf("got %v", paid)
	}
}

func TestTheDemosOwnFilesLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var tools []wire.Tool
	for name, schema := range map[string]string{"transfer": demo.TransferSchema, "ledger": demo.LedgerSchema} {
		raw := []byte(`{"name":"` + name + `","inputSchema":` + strings.ReplaceAll(schema, "\n", "") + `}`)
		tools = append(tools, wire.Tool{Name: name, Raw: raw, Digest: canon.Digest(catalog.DefinitionDigest(raw))})
	}
	if err := demo.Furnish(dir, "/bin/true", tools); err != nil {
		t.Fatal(err)
	}
	home := config.Home(dir)
	cfg, err := config.Load(home, home.Config(), false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"demo-bank", "--ledger", filepath.Join(dir, demo.LedgerFile)}, cfg.Servers["bank"].Args); diff != "" {
		t.Errorf("the bank's command (-want +got):\n%s", diff)
	}
	c, err := yamlfile.Load(cfg.Catalog)
	if err != nil {
		t.Fatal(err)
	}
	if failed := catalog.Failed(catalog.Lint(c)); failed {
		t.Errorf("lint: %v", catalog.Lint(c))
	}
	engine, err := cedar.Load(map[string][]byte{"bank.cedar": []byte(demo.PolicyText)}, c.Tools(), cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"reads", "routine-payments", "large-payments"}, engine.Rules()); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if err := demo.Furnish(t.TempDir(), "/bin/true", tools[:1]); err == nil {
		t.Error("a bank without all its tools was accepted")
	}
}

func TestLinesFoldBetweenWords(t *testing.T) {
	t.Parallel()
	p, out := paper()
	p.Says("agent", "%s", strings.Repeat("word ", 30)+"end")
	for line := range strings.Lines(out.String()) {
		if len(line) > demo.Width+len("   agent     \n") {
			t.Errorf("a line of %d characters: %q", len(line), line)
		}
	}
	if got := strings.Join(strings.Fields(out.String())[1:], " "); got != strings.Repeat("word ", 30)+"end" {
		t.Errorf("words were lost: %q", got)
	}
	if got := demo.Fold(strings.Repeat("x", 200)); len(got) != 1 {
		t.Errorf("a word was broken: %q", got)
	}
}

func TestColorsOnlyForTerminals(t *testing.T) {
	t.Parallel()
	p, out := paper()
	p.Title("one")
	p.Verdict(demo.Red, "denied: why")
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("colors in a pipe: %q", out.String())
	}
	p.Color = true
	p.Verdict(demo.Red, "denied: why")
	if !strings.Contains(out.String(), "\x1b[31mdenied\x1b[0m: why") {
		t.Errorf("no color at a terminal: %q", out.String())
	}
}

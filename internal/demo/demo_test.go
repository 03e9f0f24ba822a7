package demo

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
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
)

func paper() (*Paper, *bytes.Buffer) {
	var out bytes.Buffer
	return &Paper{Out: &out, Plain: func(s string) string { return s }}, &out
}

func TestTheDemoFailsWhereTheLedgerDiffers(t *testing.T) {
	t.Parallel()
	p, _ := paper()
	s := &stage{cfg: Config{Out: p}, home: config.Home(t.TempDir())}
	if err := s.ledgerHolds(); err != nil {
		t.Fatalf("an empty ledger: %v", err)
	}
	if err := appendLedger(s.home.Path(ledgerFile), payment{VendorID: "VENDOR-001", AmountMinor: 84000, Currency: "USD", UserID: "u"}); err != nil {
		t.Fatal(err)
	}
	if err := s.unchanged(firstPayment); err != nil {
		t.Fatalf("the payment that was made: %v", err)
	}
	var surprise *Surprise
	for _, want := range [][]string{nil, {firstPayment, firstPayment}, {"USD 840.01 to VENDOR-001"}, {"USD 840.00 to VENDOR-002"}} {
		if err := s.ledgerHolds(want...); !errors.As(err, &surprise) {
			t.Errorf("want %q: got %v, want a Surprise", want, err)
		}
	}
}

func TestALedgerThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), ledgerFile)
	if err := os.WriteFile(path, []byte(`{"vendor_id":"V","amount_minor":1,"currency":"USD","user_id":"u","user_id":"v"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if paid, err := readLedger(path); err == nil {
		t.Errorf("got %v", paid)
	}
}

func TestTheDemosOwnFilesLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var tools []wire.Tool
	for name, schema := range map[string]string{"transfer": transferSchema, "ledger": ledgerSchema} {
		raw := []byte(`{"name":"` + name + `","inputSchema":` + strings.ReplaceAll(schema, "\n", "") + `}`)
		tools = append(tools, wire.Tool{Name: name, Raw: raw, Digest: canon.Digest(catalog.DefinitionDigest(raw))})
	}
	if err := furnish(dir, "/bin/true", tools); err != nil {
		t.Fatal(err)
	}
	home := config.Home(dir)
	cfg, err := config.Load(home, home.Config(), false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"demo-bank", "--ledger", filepath.Join(dir, ledgerFile)}, cfg.Servers["bank"].Args); diff != "" {
		t.Errorf("the bank's command (-want +got):\n%s", diff)
	}
	c, err := yamlfile.Load(cfg.Catalog)
	if err != nil {
		t.Fatal(err)
	}
	if failed := catalog.Failed(catalog.Lint(c)); failed {
		t.Errorf("lint: %v", catalog.Lint(c))
	}
	engine, err := cedar.Load(map[string][]byte{"bank.cedar": []byte(policyText)}, c.Tools(), cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"reads", "routine-payments", "large-payments"}, engine.Rules()); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if err := furnish(t.TempDir(), "/bin/true", tools[:1]); err == nil {
		t.Error("a bank without all its tools was accepted")
	}
}

func TestLinesFoldBetweenWords(t *testing.T) {
	t.Parallel()
	p, out := paper()
	p.says("agent", "%s", strings.Repeat("word ", 30)+"end")
	for line := range strings.Lines(out.String()) {
		if len(line) > width+len("   agent     \n") {
			t.Errorf("a line of %d characters: %q", len(line), line)
		}
	}
	if got := strings.Join(strings.Fields(out.String())[1:], " "); got != strings.Repeat("word ", 30)+"end" {
		t.Errorf("words were lost: %q", got)
	}
	if got := fold(strings.Repeat("x", 200)); len(got) != 1 {
		t.Errorf("a word was broken: %q", got)
	}
}

func TestColorsOnlyForTerminals(t *testing.T) {
	t.Parallel()
	p, out := paper()
	p.title("one")
	p.verdict(red, "denied: why")
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("colors in a pipe: %q", out.String())
	}
	p.Color = true
	p.verdict(red, "denied: why")
	if !strings.Contains(out.String(), "\x1b[31mdenied\x1b[0m: why") {
		t.Errorf("no color at a terminal: %q", out.String())
	}
}

package yamlfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/resolve"
)

// write puts files into a new folder and returns the path of the first.
func write(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, files[0])
}

const whole = `version: "1"
resolvers:
  vendors: {kind: table, file: tables/vendors.csv, fold: true}
  accounts: {kind: table, rows: {main: "42"}, integer: true}
  people: {kind: table, file: people.yaml}
  money: {kind: money, currency: EUR, aliases: {"$": USD}, fold: true, exactDigits: false}
tools:
  bank.transfer:
    title: Transfer
    description: Pays a vendor.
    sentence: Pay {amountMinor|money} to {vendorId}
    schemaFile: transfer.json
    proposalSchema:
      type: object
      required: [vendor, amount]
      properties:
        vendor: {type: string}
        amount: {type: [number, string], maximum: 1.0e6}
        unit: {type: string}
        currency: {type: string}
        userId: {type: string}
        account: {type: string}
        note: {type: string}
    normalize:
      nullMeansAbsent: true
      coerce: true
      unknown: strip
      transforms: [{at: /note, apply: trim}]
    caseTwins: keep
    impact: financial
    effect: keyed
    retention: 24h
    errors: reported
    timeout: 90s
    lookup: {tool: bank.preview, arguments: {key: $key}, at: /status, is: [paid]}
    groups: ["finance:2|admin:1", legal]
    resolve:
      - {use: vendors, from: /vendor, into: /vendorId}
      - {use: accounts, from: /account, into: /account}
      - use: money
        from: {amount: /amount, unit: /unit, currency: /currency}
        into: {amountMinor: /amountMinor, currency: /currency}
    identity: [{at: /userId, names: principal, fill: true}]
    targets: [{type: vendor, at: /vendorId}]
    dryRun: {tool: bank.preview, recheck: true, compare: [/total], timeout: 5s}
    secrets: [/note]
    converts: true
    bounds: [/amountMinor]
  bank.preview:
    schema: {type: object}
    mutation: false
    reason: It only computes.
`

const transferSchema = `{"type":"object","required":["vendorId","amountMinor","currency"],"properties":{"vendorId":{"type":"string"},
	"amountMinor":{"type":"integer"},"currency":{"type":"string"},"userId":{"type":"string"},"account":{"type":"integer"},"note":{"type":"string"}}}`

func load(t testing.TB, text string) (*catalog.Catalog, error) {
	t.Helper()
	return yamlfile.Load(write(t, "catalog.yaml", text, "transfer.json", transferSchema,
		"tables/vendors.csv", "alias,id\nAcme,VENDOR-001\n", "people.yaml", "- {alias: Bob, id: P1}\n"))
}

func TestLoadReadsEveryField(t *testing.T) {
	t.Parallel()
	c, err := load(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := c.Tool("bank.transfer")
	if !ok {
		t.Fatal("no tool")
	}
	for name, ok := range map[string]bool{
		"title": got.Title == "Transfer", "description": got.Description == "Pays a vendor.", "sentence": got.Sentence != "",
		"mutation": got.Mutation && got.Cataloged, "impact": got.Impact == catalog.Financial, "effect": got.Effect == catalog.Keyed,
		"errors": got.Errors == catalog.ErrorsReported, "timeout": got.Timeout == 90*time.Second,
		"retention": got.Retention == 24*time.Hour, "lookup": cmp.Equal(got.Lookup, &catalog.Lookup{Tool: "bank.preview",
			Arguments: map[string]string{"key": catalog.ProviderKey}, At: "/status", Is: []string{"paid"}}), "caseTwins": got.CaseTwins,
		"converts": got.Converts, "schemas": got.Proposal != got.Own && got.Own.Knows("/vendorId") && !got.Proposal.Knows("/vendorId"),
	} {
		if !ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, diff := range map[string]string{
		"groups": cmp.Diff([]action.Requirement{{AnyOf: []action.Group{{Name: "finance", Votes: 2}, {Name: "admin", Votes: 1}}},
			{AnyOf: []action.Group{{Name: "legal", Votes: 1}}}}, got.Groups),
		"identity": cmp.Diff([]identity.Member{{Pointer: "/userId", Names: "principal", Fill: true}}, got.Identity),
		"targets":  cmp.Diff([]catalog.TargetRule{{Type: "vendor", Pointer: "/vendorId"}}, got.Targets),
		"secrets":  cmp.Diff([]string{"/note"}, got.Secrets),
		"bounds":   cmp.Diff([]string{"/amountMinor"}, got.Bounds),
		"dryRun": cmp.Diff(&catalog.DryRun{Tool: "bank.preview", Required: true, Recheck: true, Compare: []string{"/total"}, Timeout: 5 * time.Second},
			got.DryRun),
	} {
		if diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	read, _ := c.Tool("bank.preview")
	if read.Mutation || read.Reason != "It only computes." || read.Timeout != catalog.DefaultTimeout {
		t.Errorf("%+v", read)
	}
}

func TestLoadedToolResolves(t *testing.T) {
	t.Parallel()
	c, err := load(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	tool, _ := c.Tool("bank.transfer")
	args, err := canon.Decode([]byte(`{"vendor":"ACME","amount":"8.4","unit":"thousand","currency":"$","account":"main","note":" hi ","extra":1}`), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	parsed, _, err := tool.Proposal.Apply(args, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _, _, err := resolve.Apply(t.Context(), tool.Resolvers, parsed, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"account":42,"amountMinor":840000,"currency":"USD","note":"hi","vendorId":"VENDOR-001"}`
	if string(got.Canonical()) != want || tool.Own.Validate(got) != nil {
		t.Errorf("got %s", got.Canonical())
	}
}

func TestLoadSaysFileLineAndField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"unknown field", "version: \"1\"\ntools:\n  t:\n    schema: {type: object}\n    impct: financial\n", "catalog.yaml:5: tools.t.impct: "},
		{"unknown section", "version: \"1\"\ntool: {}\n", "catalog.yaml:2: tool: "},
		{"E09 duplicate tool", "version: \"1\"\ntools:\n  t: {schema: {type: object}}\n  t: {schema: {type: object}}\n", "catalog.yaml:4: tools.t: the key comes twice, first in line 3"},
		{"E09 duplicate field", "version: \"1\"\ntools:\n  t:\n    schema: {type: object}\n    impact: financial\n    impact: ordinary\n", "catalog.yaml:6: tools.t.impact: the key comes twice"},
		{"E10 duplicate in a schema", "version: \"1\"\ntools:\n  t:\n    schema: {type: object, type: string}\n", "catalog.yaml:4: tools.t.schema.type: the key comes twice"},
		{"E10 duplicate alias in rows", "version: \"1\"\nresolvers:\n  v: {kind: table, rows: {a: x, a: y}}\n", "catalog.yaml:3: resolvers.v.rows.a: the key comes twice"},
		{"E10 quoted duplicate", "version: \"1\"\ntools:\n  t: {schema: {type: object}, \"sch\\u0065ma\": {}}\n", "catalog.yaml:3: tools.t.schema: the key comes twice"},
		{"field in other case", "version: \"1\"\ntools:\n  t: {Schema: {type: object}}\n", "catalog.yaml:3: tools.t.Schema: "},
		{"anchor", "version: \"1\"\ntools:\n  t: &a {schema: {type: object}}\n", "catalog.yaml:3: tools.t: anchors"},
		{"alias", "version: \"1\"\ntools:\n  t: {schema: &s {type: object}}\n  u: {schema: *s}\n", "anchors"},
		{"merge key", "version: \"1\"\ntools:\n  t:\n    <<: {schema: {type: object}}\n", "catalog.yaml:4"},
		{"tag", "version: \"1\"\ntools:\n  t: !tool {schema: {type: object}}\n", "catalog.yaml:3: tools.t: tags"},
		{"binary", "version: \"1\"\ntools:\n  t: {title: !!binary aGk=}\n", "tags"},
		{"number as a title", "version: \"1\"\ntools:\n  t: {title: 5}\n", "catalog.yaml:3: tools.t.title: must be a string"},
		{"number as a key", "version: \"1\"\ntools:\n  5: {}\n", "catalog.yaml:3: tools: a key must be a string"},
		{"yes for true", "version: \"1\"\ntools:\n  t: {schema: {type: object}, converts: yes}\n", "catalog.yaml:3: tools.t.converts: must be true or false"},
		{"no for mutation", "version: \"1\"\ntools:\n  t: {schema: {type: object}, mutation: no}\n", "catalog.yaml:3: tools.t.mutation: must be true or false"},
		{"list for a mapping", "version: \"1\"\ntools: []\n", "catalog.yaml:2: tools: must be a mapping"},
		{"octal in a schema", "version: \"1\"\ntools:\n  t: {schema: {type: object, maxProperties: 010}}\n", "write the number as JSON does"},
		{"grouped digits in a schema", "version: \"1\"\ntools:\n  t: {schema: {maximum: 1_000}}\n", "write the number as JSON does"},
		{"infinity in a schema", "version: \"1\"\ntools:\n  t: {schema: {maximum: .inf}}\n", "write the number as JSON does"},
		{"rounded number in a schema", "version: \"1\"\ntools:\n  t: {schema: {maximum: 9007199254740993}}\n", "write the number as JSON does"},
		{"no version", "tools: {}\n", "version: must be \"1\""},
		{"number version", "version: 1\n", "catalog.yaml:1: version: must be a string"},
		{"later version", "version: \"2\"\n", "catalog.yaml:1: version: must be"},
		{"two documents", "version: \"1\"\n---\nversion: \"1\"\n", "more than one YAML document"},
		{"empty", "", "empty"},
		{"not YAML", "a: [", "catalog.yaml:1: did not find"},
		{"bad UTF-8", "version: \"\xff\"\n", "not valid UTF-8"},
		{"unknown resolver kind", "version: \"1\"\nresolvers:\n  v:\n    kind: guess\n", "catalog.yaml:4: resolvers.v.kind"},
		{"table without rows", "version: \"1\"\nresolvers:\n  v: {kind: table}\n", "catalog.yaml:3: resolvers.v: a table needs either"},
		{"table of another format", "version: \"1\"\nresolvers:\n  v: {kind: table, file: v.xlsx}\n", "resolvers.v: a table file ends in"},
		{"table that is missing", "version: \"1\"\nresolvers:\n  v: {kind: table, file: none.csv}\n", "catalog.yaml:3: resolvers.v: read table"},
		{"table with money fields", "version: \"1\"\nresolvers:\n  v: {kind: table, rows: {a: x}, currency: EUR}\n", "catalog.yaml:3: resolvers.v.currency: is for money, not for table"},
		{"money with table fields", "version: \"1\"\nresolvers:\n  v: {kind: money, file: v.csv}\n", "catalog.yaml:3: resolvers.v.file: is for table, not for money"},
		{"O01 money in no currency", "version: \"1\"\nresolvers:\n  v: {kind: money, currency: XYZ}\n", "catalog.yaml:3: resolvers.v: currency"},
		{"unknown resolver", "version: \"1\"\ntools:\n  t:\n    schema: {type: object, properties: {a: {}}}\n    resolve: [{use: v, from: /a, into: /a}]\n", "catalog.yaml:5: tools.t.resolve[0]"},
		{"lower class without a reason", "version: \"1\"\ntools:\n  t:\n    schema: {type: object}\n    impact: ordinary\n", "catalog.yaml:3: tools.t: reason"},
		{"unknown impact", "version: \"1\"\ntools:\n  t:\n    schema: {type: object}\n    impact: low\n", "catalog.yaml:5: tools.t.impact: must be"},
		{"bad duration", "version: \"1\"\ntools:\n  t:\n    schema: {type: object}\n    timeout: soon\n", "catalog.yaml:5: tools.t.timeout"},
		{"timeout of zero", "version: \"1\"\ntools:\n  t:\n    schema: {type: object}\n    timeout: 0s\n", "catalog.yaml:5: tools.t.timeout"},
		{"bad group", "version: \"1\"\ntools:\n  t:\n    schema: {type: object}\n    groups: [\"finance:0\"]\n", "catalog.yaml:5: tools.t.groups[0]"},
		{"keyword that cannot be enforced", "version: \"1\"\ntools:\n  t:\n    schema: {type: object, properties: {a: {pattern: \"(?=x)\"}}}\n", "pattern"},
		{"schema twice", "version: \"1\"\ntools:\n  t: {schema: {type: object}, schemaFile: transfer.json}\n", "tools.t.schema: is here and in a file"},
		{"schema file that is missing", "version: \"1\"\ntools:\n  t: {schemaFile: none.json}\n", "catalog.yaml:3: tools.t.schemaFile"},
		{"definition of a local tool", "version: \"1\"\ntools:\n  t: {definition: {sha256: x, raw: \"{}\"}}\n", "tools.t.definition: only a tool called SERVER.TOOL"},
		{"definition without a digest", "version: \"1\"\ntools:\n  s.t: {definition: {raw: \"{}\"}}\n", "catalog.yaml:3: tools.s.t.definition: sha256"},
		{"definition that is not the pinned one", "version: \"1\"\ntools:\n  s.t: {definition: {sha256: '" + strings.Repeat("0", 64) + "', raw: '{\"name\":\"t\",\"inputSchema\":{}}'}}\n", "not the pinned one"},
		{"caseTwins", "version: \"1\"\ntools:\n  t: {schema: {type: object}, caseTwins: allow}\n", "tools.t.caseTwins"},
		{"unknown mode", "version: \"1\"\ntools:\n  t: {schema: {type: object}, normalize: {unknown: drop}}\n", "tools.t.normalize.unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := load(t, c.text)
			if err == nil || got != nil {
				t.Fatal("loaded")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestLoadListsEveryMistake(t *testing.T) {
	t.Parallel()
	_, err := load(t, "version: \"1\"\ntools:\n  a: {schema: {type: object}, impact: low}\n  b: {schema: {type: object}, effect: safe}\n")
	for _, want := range []string{"catalog.yaml:3: tools.a.impact", "catalog.yaml:4: tools.b.effect"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is missing: %v", want, err)
		}
	}
}

func TestLoadReadsSeveralFiles(t *testing.T) {
	t.Parallel()
	one := write(t, "one.yaml", "version: \"1\"\ntools: {a: {schema: {type: object}}}\n")
	two := write(t, "two.yaml", "version: \"1\"\ntools: {b: {schema: {type: object}}}\n")
	c, err := yamlfile.Load(one, two)
	if err != nil || len(c.Tools()) != 2 {
		t.Fatalf("%v", err)
	}
	again := write(t, "again.yaml", "version: \"1\"\ntools: {a: {schema: {type: object}}}\n")
	if _, err := yamlfile.Load(one, again); err == nil || !strings.Contains(err.Error(), "tools.a") {
		t.Errorf("one tool in two files: %v", err)
	}
	if _, err := yamlfile.Load(); err == nil {
		t.Error("no file made a catalog")
	}
	if _, err := yamlfile.Load(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestDryRunIsRequiredUnlessSaid(t *testing.T) {
	t.Parallel()
	text := func(required string) string {
		return "version: \"1\"\ntools:\n  t:\n    schema: {type: object, properties: {a: {type: string}, dry: {type: boolean}}}\n    dryRun: {argument: /dry" + required + "}\n"
	}
	for required, want := range map[string]bool{"": true, ", required: false": false, ", required: true": true} {
		c, err := load(t, text(required))
		if err != nil {
			t.Fatal(err)
		}
		if tool, _ := c.Tool("t"); tool.DryRun.Required != want {
			t.Errorf("%q: %v", required, tool.DryRun.Required)
		}
	}
}

func TestParseRowsRefusesTwoReadings(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"Acme: V1\nGlobex: V2\n": true, "- {alias: Acme, id: V1, expires: 2027-01-01T00:00:00Z}\n": true,
		"Acme: V1\nAcme: V2\n": false, "Acme: 1\n": false, "- {alias: a, id: x, id: y}\n": false, "a: &x V1\nb: *x\n": false, "": false, "text": false,
	} {
		if rows, err := yamlfile.ParseRows([]byte(text)); (err == nil) != ok || ok && len(rows) == 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(strings.ReplaceAll(whole, "file:", "rows:")))
	f.Add([]byte("version: \"1\"\ntools:\n  s.t: {definition: {sha256: \"\", raw: \"{}\"}}\n"))
	f.Add([]byte("a: &a [*a]\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, src []byte) {
		tools, err := yamlfile.Decode("f.yaml", src, dir)
		if err != nil && tools != nil {
			t.Fatal("refused with tools")
		}
		for _, tool := range tools {
			if tool.Proposal == nil || tool.Own == nil || tool.Timeout == 0 || tool.Impact == "" || tool.Effect == "" || tool.Errors == "" {
				t.Fatalf("incomplete tool: %+v", tool)
			}
			if !tool.HighImpact() && strings.TrimSpace(tool.Reason) == "" {
				t.Fatal("a lower class without a reason")
			}
		}
	})
}

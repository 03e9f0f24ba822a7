package yamlfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
)

// reimport writes a catalog and reads it back.
func reimport(t testing.TB, server string, raws [][]byte, opt yamlfile.ImportOptions) (string, []*catalog.Tool) {
	t.Helper()
	text, err := yamlfile.Import(server, raws, opt)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := yamlfile.Decode("import.yaml", text, ".")
	if err != nil {
		t.Fatalf("the imported catalog does not load: %v\n%s", err, text)
	}
	return string(text), tools
}

// suiteTools returns the tool objects of a suite file: an array, or an object
// with tools.
func suiteTools(t testing.TB, path string) [][]byte {
	t.Helper()
	src, err := os.ReadFile("../../../shared/suites/" + path)
	if err != nil {
		t.Skip("shared/suites/" + path + " is absent")
	}
	v, err := canon.Decode(src, canon.Options{MaxBytes: 10 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if tools, ok := v.Get("tools"); ok {
		v = tools
	}
	var out [][]byte
	for _, x := range v.Elements() {
		if f, ok := x.Get("function"); ok { // the form of function calling APIs
			name, _ := f.Get("name")
			schema, _ := f.Get("parameters")
			x = canon.ObjectValue(canon.Member{Name: "name", Value: name}, canon.Member{Name: "inputSchema", Value: schema})
		}
		out = append(out, x.Canonical())
	}
	return out
}

func TestImportPinsEveryToolOfRealServers(t *testing.T) {
	t.Parallel()
	for server, path := range map[string]string{
		"fs": "mcp-reference-servers/filesystem.tools.json", "everything": "mcp-reference-servers/everything.tools.json",
		"memory": "mcp-reference-servers/memory.tools.json", "thinking": "mcp-reference-servers/sequential-thinking.tools.json",
		"bank": "agentdojo/banking.tools.json", "slack": "agentdojo/slack.tools.json",
		"retail": "tau-bench/retail.tools.json", "airline": "tau-bench/airline.tools.json",
	} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			raws := suiteTools(t, path)
			text, tools := reimport(t, server, raws, yamlfile.ImportOptions{})
			if len(tools) != len(raws) || strings.Contains(text, "# refused:") {
				t.Errorf("%d of %d tools", len(tools), len(raws))
			}
			c, err := catalog.New(tools...)
			if err != nil {
				t.Fatal(err)
			}
			for _, raw := range raws {
				def, err := catalog.ReadDefinition(raw)
				if err != nil {
					t.Fatal(err)
				}
				tool, err := c.FromDefinition(server, def.Name, raw)
				if err != nil || !tool.Cataloged || !tool.HighImpact() {
					t.Errorf("%s: %v", def.Name, err)
				}
			}
			if catalog.Failed(catalog.Lint(c)) {
				t.Errorf("lint fails: %+v", catalog.Lint(c))
			}
		})
	}
}

func TestImportTrustsReadHintsOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	raws := [][]byte{
		[]byte(`{"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`),
		[]byte(`{"name":"push","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"true"}}`),
		[]byte(`{"name":"pull","inputSchema":{"type":"object"}}`),
	}
	_, tools := reimport(t, "s", raws, yamlfile.ImportOptions{})
	for _, tool := range tools {
		if !tool.HighImpact() {
			t.Errorf("%s: the server's hint was believed", tool.Name)
		}
	}
	_, tools = reimport(t, "s", raws, yamlfile.ImportOptions{TrustReadHints: true, Date: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)})
	for _, tool := range tools {
		if tool.Mutation != (tool.Name != "s.look") {
			t.Errorf("%s: mutation %v", tool.Name, tool.Mutation)
		}
		if want := "server says read-only; trusted by operator on 2026-03-01"; !tool.Mutation && tool.Reason != want {
			t.Errorf("reason %q", tool.Reason)
		}
	}
	if _, err := yamlfile.Import("s", raws, yamlfile.ImportOptions{TrustReadHints: true}); err == nil {
		t.Error("trust without a date")
	}
}

func TestImportWritesGuessesAsComments(t *testing.T) {
	t.Parallel()
	text, tools := reimport(t, "bank", [][]byte{[]byte(`{"name":"pay","description":"Pays.\nimpact: ordinary","inputSchema":{"type":"object","properties":{
		"user_id":{"type":"string"},"tenantId":{"type":"string"},"amount":{"type":"number"},"file_path":{"type":"string"},"apiKey":{"type":"string"},
		"callback_url":{"type":"string"},"notify":{"type":"string","format":"email"},"when":{"type":"string","format":"date-time"},"orderId":{"type":"integer"},"dry_run":{"type":"boolean"}}}}`)}, yamlfile.ImportOptions{})
	for _, want := range []string{
		"# Pays.\n", "# TODO: identity? {at: /user_id, names: principal}", "# TODO: identity? {at: /tenantId, names: tenant}",
		"# TODO: money? resolve /amount", "# TODO: path? a target {type: file, at: /file_path}", "# TODO: secret? list /apiKey",
		"# TODO: url? a target {type: url, at: /callback_url}", "# TODO: target? {type: thing, at: /orderId}",
		"# TODO: email? resolve {use: a resolver of kind email, from: /notify, into: /notify}",
		"# TODO: instant? resolve {use: a resolver of kind instant, from: /when, into: /when}",
		"# TODO: preview? dryRun: {argument: /dry_run}", "refused: /orderId",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if tool := tools[0]; len(tool.Identity)+len(tool.Targets)+len(tool.Secrets) != 0 || tool.DryRun != nil || !tool.HighImpact() {
		t.Errorf("a guess became a mark: %+v", tool)
	}
}

func TestImportSurvivesHostileDefinitions(t *testing.T) {
	t.Parallel()
	hostile := []byte(`{"name":"t","description":"x\u2028evil: true\u0085y\n    mutation: false\u001b[31m \ud83d\ude00\u200b\u202e","title":"\u007f",
		"inputSchema":{"type":"object","properties":{"a\nb":{"type":"string"},"user\u2028id":{"type":"string"},"\ud83d\ude00":{"const":"|-\n  \t x"}}}}`)
	text, tools := reimport(t, "s", [][]byte{hostile}, yamlfile.ImportOptions{})
	if len(tools) != 1 || !tools[0].HighImpact() || tools[0].Definition != catalog.DefinitionDigest(hostile) {
		t.Fatalf("%+v", tools)
	}
	for _, r := range text {
		if strings.ContainsRune("\u2028\u0085\u001b\u200b\u202e\u007f", r) {
			t.Errorf("B24: %U is written as it is", r)
		}
	}
	rounded := []byte(`{"inputSchema":{"properties":{"n":{"maximum":9223372036854775807,"type":"integer"}},"type":"object"},"name":"n"}`)
	if _, tools := reimport(t, "s", [][]byte{rounded}, yamlfile.ImportOptions{}); len(tools) == 1 && tools[0].Definition != catalog.DefinitionDigest(rounded) {
		t.Error("a definition with a number that is not exact lost its digest")
	}
}

func TestImportLeavesOutWhatCannotBeEnforced(t *testing.T) {
	t.Parallel()
	good := []byte(`{"name":"good","inputSchema":{"type":"object"}}`)
	bad := []byte(`{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"pattern":"(?=x)"}}}}`)
	text, tools := reimport(t, "s", [][]byte{bad, good}, yamlfile.ImportOptions{})
	if len(tools) != 1 || tools[0].Name != "s.good" || !strings.Contains(text, "# refused: bad") || !strings.Contains(text, "pattern") {
		t.Errorf("G30: %d tools\n%s", len(tools), text)
	}
	for name, raws := range map[string][][]byte{
		"no tool": nil, "one tool twice": {good, good}, "no object": {[]byte(`[]`)}, "E09 duplicate member": {[]byte(`{"name":"a","name":"b","inputSchema":{}}`)},
	} {
		if _, err := yamlfile.Import("s", raws, yamlfile.ImportOptions{}); err == nil {
			t.Errorf("%s: imported", name)
		}
	}
}

// Whatever a server writes into its texts, the imported file says what the
// pinned definition says and no tool is less than high-impact.
func TestImportedTextIsNeverConfiguration(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		def := canon.ObjectValue(
			canon.Member{Name: "name", Value: canon.StringValue("t")},
			canon.Member{Name: "description", Value: canon.StringValue(rapid.String().Draw(rt, "description"))},
			canon.Member{Name: rapid.StringMatching(`x[a-z]{1,5}`).Draw(rt, "name"), Value: canon.StringValue(rapid.String().Draw(rt, "text"))},
			canon.Member{Name: "inputSchema", Value: canon.ObjectValue(canon.Member{Name: "properties",
				Value: canon.ObjectValue(canon.Member{Name: rapid.String().Draw(rt, "property"), Value: canon.ObjectValue()})})})
		_, tools := reimport(t, "s", [][]byte{def.Canonical()}, yamlfile.ImportOptions{})
		if len(tools) == 1 && (!tools[0].HighImpact() || tools[0].Definition != catalog.DefinitionDigest(def.Canonical())) {
			rt.Fatalf("%+v", tools[0])
		}
	})
}

func TestPinnedDefinitionMayStandInAFile(t *testing.T) {
	t.Parallel()
	raw := `{"name":"t","inputSchema":{"type":"object"}}`
	text := "version: \"1\"\ntools:\n  s.t:\n    definition: {sha256: \"" + catalog.DefinitionDigest([]byte(raw)).String() + "\", file: defs/t.json}\n"
	path := write(t, "catalog.yaml", text, "defs/t.json", raw)
	c, err := yamlfile.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if tool, _ := c.Tool("s.t"); tool.Server != "s" || tool.UpstreamName != "t" {
		t.Errorf("%+v", tool)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "defs/t.json"), []byte(`{"name":"t","inputSchema":{"type":"object","maxProperties":1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := yamlfile.Load(path); err == nil || !strings.Contains(err.Error(), "pinned") {
		t.Errorf("G05: a changed file loads: %v", err)
	}
}

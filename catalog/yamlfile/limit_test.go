package yamlfile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
)

// limited is a catalog with what a test says about limits.
func limited(limits, counts string) string {
	return "version: \"1\"\nlimits:\n" + limits + "tools:\n  pay:\n    impact: financial\n" +
		"    schema: {type: object, properties: {amountMinor: {type: integer}, currency: {type: string}}}\n    limits: " + counts + "\n"
}

func TestLimitsAreRead(t *testing.T) {
	t.Parallel()
	tools, err := yamlfile.Decode("c.yaml", []byte(limited(
		"  spend: {window: day, per: [principal], amounts: {USD: 1000000, EUR: 0}}\n  calls: {window: hour, calls: 20}\n  bytes: {window: month, amount: 5}\n",
		"[{use: spend, amount: /amountMinor, currency: /currency}, calls, {use: bytes, amount: /amountMinor}]")), ".")
	if err != nil {
		t.Fatal(err)
	}
	want := []catalog.LimitUse{
		{Limit: &catalog.Limit{Name: "spend", Window: action.Day, Per: []catalog.Dimension{catalog.PerPrincipal},
			Amounts: map[string]int64{"USD": 1_000_000, "EUR": 0}}, Amount: "/amountMinor", Currency: "/currency"},
		{Limit: &catalog.Limit{Name: "calls", Window: action.Hour, Calls: 20}},
		{Limit: &catalog.Limit{Name: "bytes", Window: action.Month, Amount: 5}, Amount: "/amountMinor"},
	}
	if diff := cmp.Diff(want, tools[0].Limits); diff != "" {
		t.Error(diff)
	}
}

func TestMistakesInLimitsNameTheirPlace(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, limits, counts, want string }{
		{"no window", "  a: {calls: 1}\n", "[a]", "c.yaml:3: limits.a: window: must be hour, day, week or month"},
		{"another window", "  a: {window: year, calls: 1}\n", "[a]", "c.yaml:3: limits.a.window: must be hour"},
		{"nothing to count", "  a: {window: day}\n", "[a]", "limits.a: needs one of calls, amount and amounts"},
		{"a limit of 0", "  a: {window: day, calls: 0}\n", "[a]", "limits.a.calls: must be greater than 0"},
		{"a fraction", "  a: {window: day, calls: 1.5}\n", "[a]", "limits.a.calls: must be a whole number"},
		{"a number in hex", "  a: {window: day, calls: 0x10}\n", "[a]", "limits.a.calls: must be a whole number"},
		{"a text", "  a: {window: day, amounts: {USD: \"5\"}}\n", "[a]", "limits.a.amounts.USD: must be a whole number"},
		{"an unknown field", "  a: {window: day, calls: 1, most: 5}\n", "[a]", "limits.a.most: there is no such field"},
		{"a dimension that is none", "  a: {window: day, calls: 1, per: [user]}\n", "[a]", "limits.a.per: must be principal"},
		{"a limit that is not there", "  a: {window: day, calls: 1}\n", "[a, b]", "tools.pay.limits[1]: there is no limit \"b\""},
		{"a limit that nothing counts against", "  a: {window: day, calls: 1}\n  b: {window: day, calls: 1}\n", "[a]", "limits.b: no tool of this file counts against it"},
		{"a member that is not declared", "  a: {window: day, amount: 1}\n", "[{use: a, amount: /sum}]", "tools.pay.limits: the schema declares no member /sum"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := yamlfile.Decode("c.yaml", []byte(limited(tt.limits, tt.counts)), ".")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

// The example that docs/catalog.md gives for limits loads.
func TestDocumentedLimitsLoad(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/catalog.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "### Limits")
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no example")
	}
	tools, err := yamlfile.Decode("docs/catalog.md", []byte(example), ".")
	if err != nil || len(tools) != 2 || len(tools[0].Limits) != 2 {
		t.Errorf("%d tools, %v", len(tools), err)
	}
}

package policytest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/policy/policytest"
)

const source = `
@id("clerks") @decision("require_approval") @groups("finance:1")
permit (principal in Role::"clerk", action == Action::"bank.pay", resource) when { context.args.amount <= 500 };
@id("boss") permit (principal in Role::"boss", action == Action::"bank.pay", resource is Target::vendor);
@id("tainted") forbid (principal, action == Action::"bank.pay", resource) when { context.taint.contains("web") };`

func engine(t *testing.T) (*cedar.Engine, []*catalog.Tool) {
	t.Helper()
	tool, err := catalog.Define(catalog.Spec{Name: "bank.pay", Impact: catalog.Financial,
		Schema:  []byte(`{"type":"object","required":["amount","vendor"],"properties":{"amount":{"type":"integer"},"vendor":{"type":"string"}}}`),
		Targets: []catalog.TargetRule{{Type: "vendor", Pointer: "/vendor"}}})
	if err != nil {
		t.Fatal(err)
	}
	tools := []*catalog.Tool{tool}
	e, err := cedar.Load(map[string][]byte{"p": []byte(source)}, tools, cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e, tools
}

func TestSuiteTellsWhichDecisionsAreWrong(t *testing.T) {
	t.Parallel()
	e, tools := engine(t)
	cases, err := policytest.Parse([]byte(`{"cases":[
{"name":"clerk","tool":"bank.pay","arguments":{"amount":500,"vendor":"V"},"session":{"roles":["clerk"]},"expect":{"decision":"require_approval","groups":["finance:1"],"rules":["clerks"]}},
{"name":"boss is high impact","tool":"bank.pay","arguments":{"amount":9000,"vendor":"V"},"session":{"roles":["boss"]},"expect":{"decision":"require_approval","groups":["ops:2"]}},
{"name":"tainted","tool":"bank.pay","arguments":{"amount":1,"vendor":"V"},"session":{"roles":["clerk"],"taint":["web"]},"expect":{"decision":"deny","rules":["tainted"]}},
{"name":"guest","tool":"bank.pay","arguments":{"amount":1,"vendor":"V"},"expect":{"decision":"deny","code":"no_matching_rule"}},
{"name":"wrong decision","tool":"bank.pay","arguments":{"amount":501,"vendor":"V"},"session":{"roles":["clerk"]},"expect":{"decision":"allow"}},
{"name":"wrong code","tool":"bank.pay","arguments":{"amount":1,"vendor":"V"},"expect":{"decision":"deny","code":"policy_error"}},
{"name":"wrong rules","tool":"bank.pay","arguments":{"amount":1,"vendor":"V"},"session":{"roles":["clerk"]},"expect":{"decision":"require_approval","rules":["boss"]}},
{"name":"wrong groups","tool":"bank.pay","arguments":{"amount":1,"vendor":"V"},"session":{"roles":["clerk"]},"expect":{"decision":"require_approval","groups":["admin:1"]}},
{"name":"no such tool","tool":"bank.pya","expect":{"decision":"deny"}},
{"name":"bad arguments","tool":"bank.pay","arguments":{"amount":"x","vendor":"V"},"expect":{"decision":"deny"}},
{"name":"no arguments","tool":"bank.pay","expect":{"decision":"deny"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	ops := []action.Requirement{{AnyOf: []action.Group{{Name: "ops", Votes: 2}}}}
	var failed []string
	for _, r := range policytest.Run(t.Context(), e, tools, ops, cases) {
		if !r.Passed() {
			failed = append(failed, r.Case.Name)
		}
	}
	want := []string{"wrong decision", "wrong code", "wrong rules", "wrong groups", "no such tool", "bad arguments", "no arguments"}
	if diff := cmp.Diff(want, failed); diff != "" {
		t.Error(diff)
	}
}

// The suite of docs/policy.md passes with the first policy on that page.
func TestGuidesSuitePassesWithTheGuidesPolicy(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := policytest.Parse([]byte(block(t, string(guide), "json")))
	if err != nil {
		t.Fatal(err)
	}
	pay, err := catalog.Define(catalog.Spec{Name: "bank.pay", Impact: catalog.Financial,
		Targets: []catalog.TargetRule{{Type: "vendor", Pointer: "/vendorId"}},
		Schema: []byte(`{"type":"object","required":["amountMinor","currency","vendorId"],"properties":{
			"amountMinor":{"type":"integer"},"currency":{"type":"string"},"vendorId":{"type":"string"}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	balance, err := catalog.Define(catalog.Spec{Name: "bank.balance", Read: true, Reason: "it only reads",
		Schema: []byte(`{"type":"object","properties":{"account":{"type":"string"}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	tools := []*catalog.Tool{pay, balance}
	e, err := cedar.Load(map[string][]byte{"guide": []byte(block(t, string(guide), "cedar"))}, tools, cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range policytest.Run(t.Context(), e, tools, nil, cases) {
		if !r.Passed() {
			t.Errorf("%s: %s", r.Case.Name, r.Problem)
		}
	}
}

// block returns the first fenced block of a language.
func block(t *testing.T, page, language string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "```"+language+"\n")
	text, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("no %s block", language)
	}
	return text
}

func TestSuiteIsReadStrictly(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ src, at string }{
		"not JSON":          {`cases:`, "byte 0"},
		"no cases":          {`{}`, "(root)"},
		"unknown member":    {`{"cases":[{"name":"a","tool":"t","expekt":{},"expect":{"decision":"deny"}}]}`, "/cases/0"},
		"unknown decision":  {`{"cases":[{"name":"a","tool":"t","expect":{"decision":"permit"}}]}`, "/cases/0/expect/decision"},
		"no decision":       {`{"cases":[{"name":"a","tool":"t","expect":{}}]}`, "/cases/0/expect"},
		"role is a number":  {`{"cases":[{"name":"a","tool":"t","session":{"roles":[1]},"expect":{"decision":"deny"}}]}`, "/cases/0/session/roles/0"},
		"name twice":        {`{"cases":[{"name":"a","tool":"t","expect":{"decision":"deny"}},{"name":"a","tool":"t","expect":{"decision":"deny"}}]}`, "/cases/1/name"},
		"now is no instant": {`{"cases":[{"name":"a","tool":"t","now":"noon","expect":{"decision":"deny"}}]}`, "/cases/0/now"},
		"negative turn":     {`{"cases":[{"name":"a","tool":"t","turn":-1,"expect":{"decision":"deny"}}]}`, "/cases/0/turn"},
		"case is a list":    {`{"cases":[[]]}`, "/cases/0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := policytest.Parse([]byte(tt.src))
			if err == nil || !strings.Contains(err.Error(), tt.at) {
				t.Errorf("got %v, want a fault at %s", err, tt.at)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"cases":[{"name":"a","tool":"t","approval":{"id":"x","voters":["b"]},"now":"2026-05-04T12:00:00Z","expect":{"decision":"deny"}}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		cases, err := policytest.Parse(src)
		if err != nil {
			return
		}
		for _, c := range cases {
			if c.Want.Decision == "" || c.Session.Tenant == "" && !strings.Contains(string(src), "tenant") {
				t.Errorf("accepted %+v", c)
			}
		}
	})
}

package cedar_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/schema"
)

func TestFindingsNameWhatPolicyCannotSee(t *testing.T) {
	t.Parallel()
	e := load(t, `permit (principal, action == Action::"bank.pay", resource);
permit (principal, action in [Action::"mail.draft", Action::"open.call"], resource);
@id("dead") forbid (principal, action == Action::"mail.draft", resource) when { action in Action::"read" };
@id("alive") forbid (principal, action, resource) when { action in Action::"read" && context.turn > 99 };`)
	var got []string
	for _, f := range e.Findings() {
		got = append(got, f.String())
	}
	want := []string{
		"p.cedar:3: rule dead: its conditions are never satisfied, for no tool",
		"tool bank.balance: no permit can apply: every call is denied",
		"tool bank.pay, /either: not visible to policy: it is a union",
		"tool bank.pay, /extra: not visible to policy: it is a map",
		"tool bank.pay, /mixed: not visible to policy: it has several types",
		"tool bank.pay, /cells: the elements are not visible to policy, only their number",
		"tool open.call: members that the schema does not declare are possible and not visible to policy",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCheckFailsAsLoadDoes(t *testing.T) {
	t.Parallel()
	if _, err := cedar.Check(map[string][]byte{"p": []byte(`permit (`)}, nil, cedar.Options{}); err == nil {
		t.Error("a syntax error passes")
	}
	name, source := cedar.Builtin()
	findings, err := cedar.Check(map[string][]byte{name: source}, nil, cedar.Options{})
	if err != nil || len(findings) != 0 {
		t.Errorf("built-in policy: %v %v", findings, err)
	}
}

func TestDescribeWritesWhatPolicySees(t *testing.T) {
	t.Parallel()
	e, err := cedar.LoadModels(nil, []cedar.ToolModel{{Name: "a.b", Group: "read", Root: object(
		must("n", integer()), may("x", number()), must("on", boolean()), may("s", nullable(text())), may("l", list(list(text()))),
		may("u", &schema.Node{Types: schema.TypeAny, Union: true}))}}, cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Describe("a.b")
	want := `{"l"?: {items: Set<{items: Set<String>, length: Long}>, length: Long}, "n": Long, "on": Bool, "s"?: String, "x"?: decimal}`
	if err != nil || got != want {
		t.Errorf("got %s %v", got, err)
	}
	if _, err := e.Describe("no.tool"); err == nil {
		t.Error("an unknown tool is described")
	}
}

package cedar_test

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/schema"
)

var update = flag.Bool("update", false, "rewrite golden files")

// problems loads a source that must be refused and returns what is wrong.
func problems(t *testing.T, source string, opt cedar.Options) []cedar.Problem {
	t.Helper()
	_, err := cedar.LoadModels(map[string][]byte{"p.cedar": []byte(source)}, tools(), opt)
	var refused *cedar.LoadError
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want a LoadError", err)
	}
	return refused.Problems
}

func TestRuleThatCannotMeanAnythingDoesNotLoad(t *testing.T) {
	t.Parallel()
	on := func(condition string) string {
		return "// first line\npermit (principal, action == Action::\"bank.pay\", resource)\nwhen { " + condition + " };"
	}
	tests := []struct{ name, source, at, says string }{
		{"syntax", "permit (principal, action,\n  resource) when { ;", "2:21", "syntax error"},
		{"unterminated text", "permit (principal, action, resource)\nwhen { \"abc };", "2:8", "syntax error"},
		{"unknown tool", `permit (principal, action == Action::"bank.pya", resource);`, "1:39", "bank.pya"},
		{"unknown tool in a list", "permit (principal, action in [Action::\"bank.pay\",\n Action::\"bank.pya\"], resource);", "2:11", "bank.pya"},
		{"unknown tool as resource", `permit (principal, action, resource == Tool::"bank.pya");`, "1:47", "bank.pya"},
		{"unknown tool in a condition", on(`action in Action::"bank.pya"`), "3:27", "bank.pya"},
		{"unknown member", on(`context.args.amuont < 5`), "3:21", "amuont"},
		{"unknown member behind has", on(`context.args has amuont && context.args.amuont < 5`), "3:25", "amuont"},
		{"unknown member in dead code", on(`false && context.args.amuont < 5`), "3:30", "amuont"},
		{"unknown nested member", on(`context.args has to && context.args.to has idd`), "3:51", "to.idd"},
		{"unknown fact", on(`context has tusk`), "3:20", "tusk"},
		{"unknown fact read", on(`context.tusk == "x"`), "3:16", "tusk"},
		{"unguarded optional member", on(`context.args.rate == decimal("1.0")`), "3:21", "optional attribute"},
		{"unguarded nullable member", on(`context.args.region == "eu"`), "3:21", "optional attribute"},
		{"wrong-typed comparison", on(`context.args.amount < "5"`), "2:1", "type"},
		{"wrong-typed equality", on(`context.args.amount == "5"`), "2:1", "type"},
		{"in on a string", on(`context.args.currency in ["EUR"]`), "2:1", "type"},
		{"union member", on(`context.args has either`), "3:25", "union"},
		{"map member", on(`context.args has extra`), "3:25", "map"},
		{"member of several types", on(`context.args has mixed`), "3:25", "several types"},
		{"elements without a type", on(`context.args has cells && context.args.cells.items.contains(1)`), "3:53", "elements"},
		{"array is not a set itself", on(`context.args has tags && context.args.tags.contains("x")`), "2:1", "type"},
		{"group without a tool", `permit (principal, action in Action::"reed", resource);`, "1:39", "reed"},
		{"resource type that the tool has not", `permit (principal, action == Action::"mail.draft", resource is Target::vendor);`, "1:1", "no tool"},
		{"unknown target type", `permit (principal, action, resource is Target::vendr);`, "1:48", "vendr"},
		{"principal that is no user", `permit (principal == Role::"clerk", action, resource);`, "1:1", "no tool"},
		{"role by equality", on(`principal == Role::"boss"`), "3:21", "use `in`"},
		{"group by equality", on(`action == Action::"mutation"`), "3:27", "use `in`"},
		{"attribute of the principal", on(`principal has tenant`), "3:22", "no attributes"},
		{"tags", on(`principal.hasTag("x")`), "3:18", "tags"},
		{"unknown annotation", "@desicion(\"require_approval\")\npermit (principal, action, resource);", "1:1", "unknown annotation @desicion"},
		{"unknown decision", "@id(\"x\")\n@decision(\"ask\")\npermit (principal, action, resource);", "2:1", "require_approval"},
		{"decision on a forbid", `@decision("allow") forbid (principal, action, resource);`, "1:1", "permit only"},
		{"groups without the decision", `@groups("admin:1") permit (principal, action, resource);`, "1:1", "require_approval"},
		{"ttl on an allow", `@decision("allow") @ttl("5m") permit (principal, action, resource);`, "1:20", "require_approval"},
		{"lower impact", `@impact("low") permit (principal, action, resource);`, "1:1", "high"},
		{"no votes", `@decision("require_approval") @groups("admin:0") permit (principal, action, resource);`, "1:31", "votes"},
		{"no group", `@decision("require_approval") @groups("admin:1|") permit (principal, action, resource);`, "1:31", "groups"},
		{"group with a space", `@decision("require_approval") @groups("the admins") permit (principal, action, resource);`, "1:31", "groups"},
		{"ttl above a day", `@decision("require_approval") @ttl("25h") permit (principal, action, resource);`, "1:31", "24h"},
		{"ttl without unit", `@decision("require_approval") @pending_ttl("10") permit (principal, action, resource);`, "1:31", "duration"},
		{"step_up off", `@decision("require_approval") @step_up("false") permit (principal, action, resource);`, "1:31", "true"},
		{"empty public reason", `@public_reason("") permit (principal, action, resource);`, "1:1", "text"},
		{"empty id", `@id("") permit (principal, action, resource);`, "1:1", "name"},
		{"id twice", "@id(\"a\") permit (principal, action, resource);\n@id(\"a\") permit (principal, action, resource);", "2:1", "p.cedar:1"},
		{"annotation twice", `@id("a") @id("b") permit (principal, action, resource);`, "1:13", "duplicate annotation"},
		{"template slot", `permit (principal == ?principal, action, resource);`, "1:23", "syntax error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var all []string
			for _, p := range problems(t, tt.source, cedar.Options{}) {
				all = append(all, p.String())
				if at := fmt.Sprintf("%d:%d", p.Line, p.Column); at == tt.at && strings.Contains(p.Message, tt.says) {
					return
				}
			}
			t.Errorf("want %s and %q, got\n%s", tt.at, tt.says, strings.Join(all, "\n"))
		})
	}
}

func TestAllProblemsAreToldAtOnceInOrder(t *testing.T) {
	t.Parallel()
	_, err := cedar.LoadModels(map[string][]byte{
		"b.cedar": []byte(`permit (principal, action == Action::"x.y", resource);`),
		"a.cedar": []byte("@what permit (principal, action, resource);\npermit (principal, action == Action::\"bank.pay\", resource) when { context.args.nope };"),
	}, tools(), cedar.Options{})
	var refused *cedar.LoadError
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	var at []string
	for _, p := range refused.Problems {
		at = append(at, fmt.Sprintf("%s:%d", p.File, p.Line))
	}
	if diff := cmp.Diff([]string{"a.cedar:1", "a.cedar:2", "b.cedar:1"}, at); diff != "" {
		t.Errorf("%s\n%v", diff, err)
	}
}

func TestPolicyThatCouldExhaustTheParserDoesNotLoad(t *testing.T) {
	t.Parallel()
	rule := func(condition string) string {
		return "// ((((\npermit (principal, action, resource)\nwhen { " + condition + " };\n"
	}
	tests := []struct {
		name, source string
		loads        bool
	}{
		{"nested brackets", rule(strings.Repeat("(", 100_000) + "true" + strings.Repeat(")", 100_000)), false},
		{"nested sets", rule(strings.Repeat("[", 65) + "1"), false},
		{"long chain", rule("true" + strings.Repeat(" && true", 50_000)), false},
		{"long file", strings.Repeat(permitAll, 30_000), false},
		{"brackets in texts and comments", rule(`context.agent == "` + strings.Repeat("(", 1000) + `\"(" // ` + strings.Repeat("[", 1000) + "\n"), true},
		{"many rules", strings.Repeat(rule("((true))"), 1000), true},
		{"a comment at the end", rule("true") + "// the end ((", true},
		{"sixty brackets", rule(strings.Repeat("(", 60) + "true" + strings.Repeat(")", 60)), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := cedar.LoadModels(map[string][]byte{"p.cedar": []byte(tt.source)}, tools(), cedar.Options{})
			if (err == nil) != tt.loads {
				t.Errorf("loads: %t, want %t: %.300v", err == nil, tt.loads, err)
			}
		})
	}
}

func TestUnconfiguredGroupDoesNotLoad(t *testing.T) {
	t.Parallel()
	source := `@decision("require_approval") @groups("admin:1|finanse:2") permit (principal, action, resource);`
	found := problems(t, source, cedar.Options{Groups: []string{"admin", "finance"}})
	if len(found) != 1 || !strings.Contains(found[0].Message, "finanse") {
		t.Errorf("got %v", found)
	}
}

func TestRuleForAGroupWithoutToolsIsForThoseListedLater(t *testing.T) {
	t.Parallel()
	reads := []cedar.ToolModel{{Name: "a.read", Group: "read", Root: object()}}
	for source, loads := range map[string]bool{
		`permit (principal, action in Action::"high_impact", resource);`:                                true,
		`permit (principal, action in Action::"mutation", resource) when { context.turn < 5 };`:         true,
		`permit (principal, action in Action::"mutation", resource) when { context.turn < "5" };`:       false,
		`permit (principal, action in Action::"mutation", resource) when { context.args.path == "x" };`: false,
		`forbid (principal, action in Action::"mutation", resource) when { principal in Role::"x" };`:   true,
		`permit (principal, action in [Action::"mutation", Action::"read"], resource);`:                 true,
		`permit (principal, action in Action::"mutation", resource is Target::vendor) when { true };`:   false,
	} {
		_, err := cedar.LoadModels(map[string][]byte{"p.cedar": []byte(source)}, reads, cedar.Options{})
		if (err == nil) != loads {
			t.Errorf("%s: %v", source, err)
		}
	}
	mutations := []cedar.ToolModel{{Name: "a.write", Group: "mutation", Root: object()}}
	if _, err := cedar.LoadModels(map[string][]byte{"p.cedar": []byte(`permit (principal, action in Action::"read", resource);`)}, mutations, cedar.Options{}); err == nil {
		t.Error("a rule for reads loads though no tool only reads")
	}
}

func TestCatalogThatCedarCannotTellApartDoesNotLoad(t *testing.T) {
	t.Parallel()
	tests := map[string][]cedar.ToolModel{
		"name of a group":      {{Name: "mutation", Group: "read"}},
		"name of the handoff":  {{Name: "handoff", Group: "read"}},
		"no name":              {{Group: "read"}},
		"one name twice":       {{Name: "a.b", Group: "read"}, {Name: "a.b", Group: "mutation"}},
		"target types collide": {{Name: "a.b", Group: "read", Targets: []string{"bank-account"}}, {Name: "a.c", Group: "read", Targets: []string{"bank.account"}}},
	}
	for name, catalog := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := cedar.LoadModels(nil, catalog, cedar.Options{}); err == nil {
				t.Error("it loads")
			}
		})
	}
}

func TestVersionIsTheDigestOfWhatCanApply(t *testing.T) {
	t.Parallel()
	version := func(source, tool string) string { return load(t, source).Version(tool) }
	base := `permit (principal, action == Action::"bank.pay", resource) when { context.args.amount < 5 };`
	first := version(base, "bank.pay")
	same := map[string]string{
		"layout and comments":   "// why\npermit (\n principal,\n action == Action::\"bank.pay\", resource)\n when { context.args.amount < 5 }; // end",
		"rule for another tool": base + `permit (principal, action == Action::"mail.draft", resource);`,
		"order of rules":        `permit (principal, action == Action::"mail.draft", resource);` + base,
		"rule for reads":        base + `permit (principal, action in Action::"read", resource);`,
	}
	for name, source := range same {
		if got := version(source, "bank.pay"); got != first {
			t.Errorf("%s: changes the version", name)
		}
	}
	other := map[string]string{
		"limit":           strings.Replace(base, "5", "6", 1),
		"annotation":      `@impact("high") ` + base,
		"rule for groups": base + `forbid (principal, action in Action::"mutation", resource) when { context.turn > 9 };`,
		"rule for all":    base + permitAll,
		"none":            ``,
	}
	seen := map[string]string{first: "base"}
	for name, source := range other {
		got := version(source, "bank.pay")
		if before, ok := seen[got]; ok {
			t.Errorf("%s: has the version of %s", name, before)
		}
		seen[got] = name
	}
	if len(first) != 64 || strings.ToLower(first) != first {
		t.Errorf("not lowercase hex of SHA-256: %q", first)
	}
}

func TestVersionDependsOnWhatRulesSeeOfTheTool(t *testing.T) {
	t.Parallel()
	version := func(root *schema.Node, group string) string {
		e, err := cedar.LoadModels(map[string][]byte{"p": []byte(permitAll)}, []cedar.ToolModel{{Name: "a.b", Group: group, Root: root}}, cedar.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return e.Version("a.b")
	}
	seen := map[string]bool{}
	for _, v := range []string{
		version(object(must("n", integer())), "mutation"), version(object(may("n", integer())), "mutation"),
		version(object(must("n", number())), "mutation"), version(object(must("n", integer())), "read"), version(object(), "mutation"),
	} {
		if seen[v] {
			t.Error("two versions are equal")
		}
		seen[v] = true
	}
	described := object(must("n", integer()))
	described.Description = "other words"
	if version(described, "mutation") != version(object(must("n", integer())), "mutation") {
		t.Error("a description changes the version")
	}
}

func TestDefaultsOfASchemaThatIsOnlyCheckedMayBeAbsent(t *testing.T) {
	t.Parallel()
	withDefault := integer()
	withDefault.HasDefault = true
	source := map[string][]byte{"p.cedar": []byte(`permit (principal, action == Action::"a.b", resource) when { context.args.n < 5 };`)}
	for partial, loads := range map[bool]bool{false: true, true: false} {
		_, err := cedar.LoadModels(source, []cedar.ToolModel{{Name: "a.b", Group: "read", Root: object(must("n", withDefault)), Partial: partial}}, cedar.Options{})
		if (err == nil) != loads {
			t.Errorf("partial %t: %v", partial, err)
		}
	}
}

func TestRecursiveSchemaIsHiddenWhereItRecurs(t *testing.T) {
	t.Parallel()
	tree := object(must("name", text()))
	tree.Properties = append(tree.Properties, may("child", tree))
	e, err := cedar.LoadModels(nil, []cedar.ToolModel{{Name: "a.b", Group: "read", Root: object(may("tree", tree))}}, cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Describe("a.b")
	if want := `{"tree"?: {"name": String}}`; err != nil || got != want {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
}

func TestToolSeesOnlyRulesThatCanApply(t *testing.T) {
	t.Parallel()
	e := load(t, `@id("a") permit (principal, action == Action::"bank.pay", resource);
@id("b") permit (principal, action in Action::"read", resource);
@id("c") forbid (principal, action, resource is Target::vendor);
@id("d") forbid (principal, action, resource) when { context.turn > 9 };`)
	got := map[string][]string{}
	for _, tool := range []string{"bank.pay", "bank.balance", "mail.draft", "new.tool"} {
		got[tool] = e.RulesFor(tool)
	}
	want := map[string][]string{"bank.pay": {"a", "c", "d"}, "bank.balance": {"b", "d"}, "mail.draft": {"d"}, "new.tool": {"d"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(permitAll)
	f.Add(`@id("a") @decision("require_approval") @groups("x:1") permit (principal, action == Action::"bank.pay", resource) when { context.args has to && context.args.to.id like "a*" };`)
	f.Add(`forbid (principal, action in [Action::"read"], resource is Target::vendor) unless { if context.nulls.isEmpty() then true else context.args == {"a": [1]} };`)
	f.Fuzz(func(t *testing.T, source string) {
		e, err := cedar.LoadModels(map[string][]byte{"p.cedar": []byte(source)}, tools(), cedar.Options{})
		if err != nil {
			return
		}
		// Whatever loads, an answer is one of ours and the version is stable.
		if d := decide(t, e, call(t, "bank.pay", pay)); d.PolicyVersion != e.Version("bank.pay") || d.Reason == "" {
			t.Errorf("got %+v", d)
		}
	})
}

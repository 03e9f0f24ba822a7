package cedar_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

func TestHandoffIsDeniedByDefaultAndHasItsOwnAction(t *testing.T) {
	t.Parallel()
	h := snapshot.ProposeHandoff("A", "B", frozen(t, `{"secret":1}`))
	in := policy.Input{Handoff: &h, Session: identity.Session{Tenant: "acme", Principal: "ann"}, Now: noon}
	tests := []struct{ name, source, effect string }{
		{"default", ``, "deny"},
		{"tools are something else", `permit (principal, action in Action::"mutation", resource);`, "deny"},
		{"permitted", `permit (principal, action == Action::"handoff", resource == Agent::"B");`, "allow"},
		{"another agent", `permit (principal, action == Action::"handoff", resource == Agent::"C");`, "deny"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := decide(t, load(t, tt.source), in); d.Effect.String() != tt.effect {
				t.Errorf("got %s %q (%s)", d.Effect, d.Code, d.Reason)
			}
		})
	}
}

func TestBuiltinPolicyRunsReadsAndAsksTheOwner(t *testing.T) {
	t.Parallel()
	name, source := cedar.Builtin()
	for _, catalog := range [][]cedar.ToolModel{nil, tools()} {
		e, err := cedar.LoadModels(map[string][]byte{name: source}, catalog, cedar.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := decide(t, e, call(t, "new.tool", `{"path":"x","n":0.000001}`))
		want := []action.Requirement{{AnyOf: []action.Group{{Name: "owner", Votes: 1}}}}
		if d.Effect != policy.RequireApproval || cmp.Diff(want, d.Approval.Requirements) != "" {
			t.Errorf("got %+v", d)
		}
		if len(catalog) == 0 {
			continue
		}
		if d := decide(t, e, call(t, "bank.balance", `{"account":"a"}`)); d.Effect != policy.Allow {
			t.Errorf("read: got %+v", d)
		}
		if d := decide(t, e, call(t, "mail.draft", `{"to":[],"body":""}`)); d.Effect != policy.RequireApproval {
			t.Errorf("mutation: got %+v", d)
		}
	}
}

func TestGoldenDecisions(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("testdata", "matrix.cedar"))
	if err != nil {
		t.Fatal(err)
	}
	e := load(t, string(source))
	var b strings.Builder
	for _, who := range []string{"clerk", "boss", "guest"} {
		for _, tool := range []string{"bank.balance", "bank.pay", "mail.draft", "new.tool"} {
			for _, taint := range []string{"", "web"} {
				args := map[string]string{"bank.balance": `{"account":"a"}`, "bank.pay": pay, "mail.draft": `{"to":["a"],"body":""}`, "new.tool": `{}`}[tool]
				in := call(t, tool, args)
				in.Session.Roles, in.Session.Taint = []string{who}, []string{taint}
				d := decide(t, e, in)
				b.WriteString(strings.Join([]string{who, tool, "taint=" + taint, d.Effect.String(), d.Code, strings.Join(d.Rules, ",")}, " ") + "\n")
			}
		}
	}
	golden := filepath.Join("testdata", "matrix.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}

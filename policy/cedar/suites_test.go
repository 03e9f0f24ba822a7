package cedar_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/schema"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// suite reads a file of the public suites beside the checkout.
func suite(t *testing.T, path ...string) canon.Value {
	t.Helper()
	file := filepath.Join(append([]string{"..", "..", "..", "shared", "suites"}, path...)...)
	src, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("shared/suites/%s is absent", filepath.Join(path...))
	}
	if err != nil {
		t.Fatal(err)
	}
	v, err := canon.Decode(src, canon.Options{MaxBytes: canon.CeilingBytes})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func get(v canon.Value, name string) canon.Value {
	out, _ := v.Get(name)
	return out
}

func TestBuiltinPolicyAsksForEveryToolOfTheReferenceServers(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"everything", "filesystem", "memory", "sequential-thinking"} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			var tools []*catalog.Tool
			for _, raw := range get(suite(t, "mcp-reference-servers", server+".tools.json"), "tools").Elements() {
				tool, err := catalog.Uncataloged(server, get(raw, "name").Text(), raw.Canonical())
				if err != nil {
					t.Fatal(err)
				}
				tools = append(tools, tool)
			}
			name, source := cedar.Builtin()
			e, err := cedar.Load(map[string][]byte{name: source}, tools, cedar.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range tools {
				in := call(t, tool.Name, `{}`)
				if d := decide(t, e, in); d.Effect != policy.RequireApproval {
					t.Errorf("%s: got %s %q (%s)", tool.Name, d.Effect, d.Code, d.Reason)
				}
				if _, err := e.Describe(tool.Name); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// bankPolicy is a sensible policy for the banking tools: reads run, payments
// need their own approval, secrets are out of reach.
const bankPolicy = `
@id("reads") permit (principal, action in Action::"read", resource);
@id("payments") @decision("require_approval") @groups("owner:1")
permit (principal, action in [Action::"bank.send_money", Action::"bank.schedule_transaction", Action::"bank.update_scheduled_transaction"], resource);
@id("profile") @decision("require_approval") @groups("owner:1")
permit (principal, action == Action::"bank.update_user_info", resource);
@id("passwords") forbid (principal, action == Action::"bank.update_password", resource);
@id("dust") forbid (principal, action == Action::"bank.send_money", resource) when { context.args.amount.lessThan(decimal("0.02")) };`

func bankTools(t *testing.T) map[string]*catalog.Tool {
	t.Helper()
	tools := map[string]*catalog.Tool{}
	for _, raw := range suite(t, "agentdojo", "banking.tools.json").Elements() {
		name := get(raw, "name").Text()
		spec := catalog.Spec{Name: "bank." + name, Schema: get(raw, "inputSchema").Canonical()}
		if strings.HasPrefix(name, "get_") || strings.HasPrefix(name, "read_") {
			spec.Read, spec.Reason = true, "it only reads"
		}
		if strings.Contains(string(spec.Schema), `"recipient"`) {
			spec.Targets = []catalog.TargetRule{{Type: "iban", Pointer: "/recipient"}}
		}
		tool, err := catalog.Define(spec)
		if err != nil {
			t.Fatal(err)
		}
		tools[name] = tool
	}
	return tools
}

func bankInput(t *testing.T, tool *catalog.Tool, args canon.Value) policy.Input {
	t.Helper()
	parsed, changes, err := tool.Proposal.Apply(args, nil)
	if err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	frozen, err := snapshot.Freeze(parsed)
	if err != nil {
		t.Fatal(err)
	}
	in := policy.Input{Proposal: snapshot.Propose("agent", tool.Name, frozen), Now: noon,
		Session: identity.Session{Tenant: "home", Principal: "emma", Agent: "agent"},
		Tool: policy.Tool{Name: tool.Name, Mutation: tool.Mutation, HighImpact: tool.HighImpact(), Impact: string(tool.Impact),
			Effect: string(tool.Effect), Cataloged: true}}
	in.Proposal.Changes = changes
	if in.Proposal.Targets, err = catalog.ExtractTargets(tool.Targets, parsed); err != nil {
		t.Fatal(err)
	}
	return in
}

// groundTruth are the calls of all tasks of a file whose arguments are known
// without running anything; what is computed stands as a placeholder text.
func groundTruth(t *testing.T, file string) (calls []canon.Value) {
	t.Helper()
	for _, task := range suite(t, "agentdojo", file).Elements() {
		calls = append(calls, get(task, "ground_truth").Elements()...)
	}
	if len(calls) == 0 {
		t.Fatal("no calls in the suite")
	}
	return calls
}

// settled replaces computed arguments by some value of their type.
func settled(tool *catalog.Tool, args canon.Value) canon.Value {
	var members []canon.Member
	for _, m := range args.Members() {
		if _, computed := m.Value.Get("$dynamic"); computed {
			m.Value = canon.StringValue("computed")
			if p, _ := tool.Proposal.Root().Property(m.Name); p.Node.Types&schema.TypeString == 0 {
				m.Value = canon.IntValue(1)
			}
		}
		members = append(members, m)
	}
	return canon.ObjectValue(members...)
}

func TestInjectedBankingCallsAreNeverMerelyAllowed(t *testing.T) {
	t.Parallel()
	tools := bankTools(t)
	var list []*catalog.Tool
	for _, tool := range tools {
		list = append(list, tool)
	}
	e, err := cedar.Load(map[string][]byte{"bank": []byte(bankPolicy)}, list, cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mutations := 0
	for _, c := range groundTruth(t, "banking.injection_tasks.json") {
		tool := tools[get(c, "function").Text()]
		in := bankInput(t, tool, settled(tool, get(c, "args")))
		d := decide(t, e, in)
		if !tool.Mutation {
			continue
		}
		mutations++
		if d.Effect == policy.Allow || d.Code != "" {
			t.Errorf("%s: got %s %q (%s)", tool.Name, d.Effect, d.Code, d.Reason)
		}
		recipient, sends := in.Proposal.Args.Value().Get("recipient")
		if d.Effect == policy.RequireApproval && sends && (len(in.Proposal.Targets) != 1 || in.Proposal.Targets[0].ID != recipient.Text()) {
			t.Errorf("%s: the approval does not name the recipient", tool.Name)
		}
	}
	if mutations < 9 {
		t.Errorf("only %d injected mutations were judged", mutations)
	}
	for _, c := range groundTruth(t, "banking.user_tasks.json") {
		tool := tools[get(c, "function").Text()]
		in := bankInput(t, tool, settled(tool, get(c, "args")))
		d := decide(t, e, in)
		if d.Effect == policy.Deny && tool.Name != "bank.update_password" {
			t.Errorf("%s of the user: got %s %q (%s)", tool.Name, d.Effect, d.Code, d.Reason)
		}
	}
}

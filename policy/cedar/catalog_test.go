package cedar_test

import (
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

const paySchema = `{
	"type": "object", "required": ["amountMinor", "vendorId"], "additionalProperties": false,
	"properties": {
		"amountMinor": {"type": "integer", "minimum": 1},
		"vendorId": {"type": "string"},
		"currency": {"type": "string", "enum": ["EUR", "USD"], "default": "EUR"},
		"rate": {"type": "number"},
		"region": {"type": ["string", "null"]},
		"tags": {"type": "array", "items": {"type": "string"}},
		"to": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "fee": {"type": "number"}}},
		"either": {"oneOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "string"}}}]},
		"labels": {"type": "object", "additionalProperties": {"type": "string"}}
	}
}`

func payTool(t testing.TB) *catalog.Tool {
	t.Helper()
	tool, err := catalog.Define(catalog.Spec{
		Name: "bank.pay", Schema: []byte(paySchema), Impact: catalog.Financial, Normalize: schema.Options{Coerce: true},
		Targets: []catalog.TargetRule{{Type: "vendor", Pointer: "/vendorId"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// propose walks raw arguments through the schema to a frozen proposal.
func propose(t testing.TB, tool *catalog.Tool, raw string) policy.Input {
	t.Helper()
	v, err := canon.Decode([]byte(raw), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	parsed, changes, err := tool.Proposal.Apply(v, nil)
	if err != nil {
		t.Fatal(err)
	}
	args, err := snapshot.Freeze(parsed)
	if err != nil {
		t.Fatal(err)
	}
	in := policy.Input{Proposal: snapshot.Propose("agent", tool.Name, args), Now: noon,
		Session: identity.Session{Tenant: "acme", Principal: "ann", Roles: []string{"clerk"}, Agent: "agent"},
		Tool: policy.Tool{Name: tool.Name, Mutation: tool.Mutation, HighImpact: tool.HighImpact(), Impact: string(tool.Impact),
			Effect: string(tool.Effect), Cataloged: true}}
	in.Proposal.Changes = changes
	id, _ := parsed.Get("vendorId")
	in.Proposal.Targets = []snapshot.Target{{Type: "vendor", ID: id.Text()}}
	return in
}

func TestPolicyIsTypedByTheCatalogsSchemas(t *testing.T) {
	t.Parallel()
	tool := payTool(t)
	e, err := cedar.Load(nil, []*catalog.Tool{tool}, cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Describe("bank.pay")
	want := `{"amountMinor": Long, "currency": String, "rate"?: decimal, "region"?: String, ` +
		`"tags"?: {items: Set<String>, length: Long}, "to"?: {"fee"?: decimal, "id": String}, "vendorId": String}`
	if err != nil || got != want {
		t.Errorf("got  %s %v\nwant %s", got, err, want)
	}
	findings, err := cedar.Check(nil, []*catalog.Tool{tool}, cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range findings {
		all.WriteString(f.String() + "\n")
	}
	for _, want := range []string{"/either: not visible", "/labels: not visible", "no permit can apply"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("findings lack %q:\n%s", want, all.String())
		}
	}
}

// A dry-run argument or a proposal schema makes the tool's own schema one that
// is only checked. The schema before it has filled the defaults all the same.
func TestDefaultOfTheProposalSchemaIsAlwaysThere(t *testing.T) {
	t.Parallel()
	tool, err := catalog.Define(catalog.Spec{Name: "bank.pay", Schema: []byte(paySchema), ProposalSchema: []byte(paySchema)})
	if err != nil {
		t.Fatal(err)
	}
	source := `permit (principal, action == Action::"bank.pay", resource) when { context.args.currency == "EUR" };`
	if _, err := cedar.Load(map[string][]byte{"p": []byte(source)}, []*catalog.Tool{tool}, cedar.Options{}); err != nil {
		t.Error(err)
	}
}

func TestDecisionIsAboutTheParsedArguments(t *testing.T) {
	t.Parallel()
	tool := payTool(t)
	source := `
permit (principal in Role::"clerk", action == Action::"bank.pay", resource is Target::vendor)
when { context.args.amountMinor <= 500 && context.args.currency == "EUR" };
forbid (principal, action == Action::"bank.pay", resource == Target::vendor::"V2");
forbid (principal, action == Action::"bank.pay", resource)
when { context.args has rate && context.args.rate.greaterThan(decimal("2.0")) };`
	e, err := cedar.Load(map[string][]byte{"pay": []byte(source)}, []*catalog.Tool{tool}, cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, raw, code string
		effect          policy.Effect
	}{
		{"default filled in", `{"amountMinor":500,"vendorId":"V1"}`, "", policy.Allow},
		{"coerced", `{"amountMinor":"500","vendorId":"V1"}`, "", policy.Allow},
		{"above the limit", `{"amountMinor":"501","vendorId":"V1"}`, "no_matching_rule", policy.Deny},
		{"other currency", `{"amountMinor":5,"vendorId":"V1","currency":"USD"}`, "no_matching_rule", policy.Deny},
		{"forbidden target", `{"amountMinor":5,"vendorId":"V2"}`, "", policy.Deny},
		{"decimal within the rule", `{"amountMinor":5,"vendorId":"V1","rate":2}`, "", policy.Allow},
		{"decimal that does not fit", `{"amountMinor":5,"vendorId":"V1","rate":1.00001}`, "policy_error", policy.Deny},
		{"null that nobody reads", `{"amountMinor":5,"vendorId":"V1","region":null}`, "", policy.Allow},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := decide(t, e, propose(t, tool, tt.raw))
			if d.Effect != tt.effect || d.Code != tt.code {
				t.Errorf("got %s %q (%s)", d.Effect, d.Code, d.Reason)
			}
		})
	}
}

func TestUncatalogedToolWithASchemaIsHighImpactAndVisible(t *testing.T) {
	t.Parallel()
	definition := `{"name":"write","description":"d","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}}`
	tool, err := catalog.Uncataloged("fs", "write", []byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	source := `permit (principal, action in Action::"high_impact", resource) when { context.args.path like "/tmp/*" };`
	e, err := cedar.Load(map[string][]byte{"p": []byte(source)}, []*catalog.Tool{tool}, cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := call(t, tool.Name, `{"path":"/tmp/x"}`)
	if d := decide(t, e, in); d.Effect != policy.Allow {
		t.Errorf("got %s %q (%s)", d.Effect, d.Code, d.Reason)
	}
	if d := policy.HighImpact(decide(t, e, in), in.Tool, nil); d.Effect != policy.Deny {
		t.Errorf("without any group: got %s", d.Effect)
	}
}

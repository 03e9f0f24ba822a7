package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	cedargo "github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/gowebpki/jcs"

	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/decode"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// rule is the i-th policy on one tool: it admits amounts up to a limit.
func rule(tool string, i int) string {
	return fmt.Sprintf(`permit (principal, action == Action::"%s", resource) when { context.args.amount_minor <= %d && context.args.currency == "USD" };`+"\n",
		tool, (i+1)*100_000+1)
}

// decider is the path of one call from its bytes to what the tool gets.
type decider struct {
	tool   *catalog.Tool
	engine policy.Engine
	who    identity.Session
	now    time.Time
}

func payTool(t testing.TB, name string) *catalog.Tool {
	t.Helper()
	tool, err := catalog.Define(catalog.Spec{Name: name, Schema: []byte(paySchema), Impact: catalog.Ordinary, Reason: "a test"})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// newDecider loads the policies for the tools; calls go to the first.
func newDecider(t testing.TB, policies string, tools ...*catalog.Tool) *decider {
	t.Helper()
	engine, err := cedar.Load(map[string][]byte{"pay.cedar": []byte(policies)}, tools, cedar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &decider{tool: tools[0], engine: engine, now: time.Unix(1_800_000_000, 0),
		who: identity.Session{Tenant: "acme", Principal: "alice", Agent: "agent", Owner: "alice"}}
}

// parse is decode, schema, snapshot and proposal hash.
func (d *decider) parse(raw []byte) (policy.Input, error) {
	requested, err := decode.Arguments(raw, decode.Options{Known: d.tool.Proposal.Known()})
	if err != nil {
		return policy.Input{}, err
	}
	parsed, changes, err := d.tool.Proposal.Apply(requested, nil)
	if err != nil {
		return policy.Input{}, err
	}
	frozen, err := snapshot.Freeze(parsed)
	if err != nil {
		return policy.Input{}, err
	}
	p := snapshot.Propose(d.who.Agent, d.tool.Name, frozen)
	p.Changes = changes
	return policy.Input{Proposal: p, RawArguments: raw, Requested: requested, Session: d.who, Now: d.now,
		Tool: policy.Tool{Name: d.tool.Name, Mutation: d.tool.Mutation, HighImpact: d.tool.HighImpact(),
			Impact: string(d.tool.Impact), Effect: string(d.tool.Effect), Cataloged: d.tool.Cataloged}}, nil
}

// decide goes on with the decision and the view that the tool gets.
func (d *decider) decide(raw []byte) error {
	in, err := d.parse(raw)
	if err != nil {
		return err
	}
	said := policy.Evaluate(context.Background(), d.engine, in, policy.DefaultTimeout)
	if said.Effect != policy.Allow {
		return errors.New("not allowed: " + said.Reason)
	}
	if len(in.Proposal.Args.View()) == 0 {
		return errors.New("no arguments to run with")
	}
	return nil
}

// assembly is the same path made of the usual libraries, by hand.
type assembly struct {
	schemas schemas
	set     *cedargo.PolicySet
}

func newAssembly(t *testing.T, policies string) *assembly {
	t.Helper()
	set, err := cedargo.NewPolicySetFromBytes("pay.cedar", []byte(policies))
	if err != nil {
		t.Fatal(err)
	}
	return &assembly{compileAll(t), set}
}

func (a *assembly) parse(raw []byte) ([]byte, error) {
	var v map[string]any
	if err := stdjson.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	if err := a.schemas.google.ApplyDefaults(&v); err != nil {
		return nil, err
	}
	if err := a.schemas.strict.Validate(v); err != nil {
		return nil, err
	}
	text, err := stdjson.Marshal(v)
	if err != nil {
		return nil, err
	}
	form, err := jcs.Transform(text)
	sha256.Sum256(form)
	return form, err
}

func (a *assembly) decide(raw []byte) error {
	form, err := a.parse(raw)
	if err != nil {
		return err
	}
	var view map[string]any
	if err := stdjson.Unmarshal(form, &view); err != nil {
		return err
	}
	verdict, diagnostic := cedargo.Authorize(a.set, nil, cedargo.Request{
		Principal: types.NewEntityUID("User", "alice"), Action: types.NewEntityUID("Action", "pay"),
		Resource: types.NewEntityUID("Tool", "pay"),
		Context:  types.NewRecord(types.RecordMap{"args": cedarValue(view)}),
	})
	if verdict != cedargo.Allow || len(diagnostic.Errors) > 0 {
		return errors.New("not allowed")
	}
	var run map[string]any
	return stdjson.Unmarshal(form, &run)
}

// cedarValue converts what encoding/json has made.
func cedarValue(v any) types.Value {
	switch v := v.(type) {
	case bool:
		return types.Boolean(v)
	case string:
		return types.String(v)
	case float64:
		return types.Long(int64(v))
	case []any:
		list := make([]types.Value, len(v))
		for i := range v {
			list[i] = cedarValue(v[i])
		}
		return types.NewSet(list...)
	case map[string]any:
		m := make(types.RecordMap, len(v))
		for name, x := range v {
			m[types.String(name)] = cedarValue(x)
		}
		return types.NewRecord(m)
	default:
		return types.String("")
	}
}

const (
	oursDecide = "verbatim, ten policies"
	asAssembly = "assembly of libraries, ten policies"
)

func policies(tool string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(rule(tool, i))
	}
	return b.String()
}

// TestDecide prints how long a whole decision takes.
func TestDecide(t *testing.T) {
	raw := []byte(payShort)
	ten := newDecider(t, policies("pay", 10), payTool(t, "pay"))
	hundred := newDecider(t, policies("pay", 100), payTool(t, "pay"))
	one := newDecider(t, rule("pay", 9), payTool(t, "pay"))
	thousand := manyTools(t, 1000)
	peer := newAssembly(t, policies("pay", 10))
	sameForm(t, ten, peer, raw)
	run := func(d *decider) func() error { return func() error { return d.decide(raw) } }
	figures := measure(t, []subject{
		{oursDecide, run(ten)},
		{"verbatim, up to the proposal hash", func() error { _, err := ten.parse(raw); return err }},
		{"verbatim, one policy", run(one)},
		{"verbatim, 100 policies", run(hundred)},
		{"verbatim, 1,000 policies for as many tools", run(thousand)},
		{asAssembly, func() error { return peer.decide(raw) }},
		{"assembly, up to the digest", func() error { _, err := peer.parse(raw); return err }},
	})
	table(fmt.Sprintf("whole decision of a call (%d bytes): decode, defaults, validate, canonical form, hash, policies, view to run with",
		len(raw)), oursDecide, figures)
	faster(figures, oursDecide, asAssembly, 8)
	leaner(figures, oursDecide, 60)
	more := named(figures, "verbatim, 100 policies").ratio(named(figures, oursDecide))
	bar(more <= 3, "100 policies take %.1fx the time of ten, bar 3x", more)
	wide := named(figures, "verbatim, 1,000 policies for as many tools").ratio(named(figures, "verbatim, one policy"))
	bar(wide <= 1.5, "1,000 policies for as many tools take %.1fx the time of one, bar 1.5x", wide)
}

// BenchmarkDecide is the whole decision with ten policies, for profiles.
func BenchmarkDecide(b *testing.B) {
	raw := []byte(payShort)
	d := newDecider(b, policies("pay", 10), payTool(b, "pay"))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.decide(raw); err != nil {
			b.Fatal(err)
		}
	}
}

// manyTools has one policy for each of n tools.
func manyTools(t *testing.T, n int) *decider {
	t.Helper()
	tools := []*catalog.Tool{payTool(t, "pay")}
	source := strings.Builder{}
	source.WriteString(rule("pay", 9))
	for i := range n - 1 {
		other := *tools[0]
		other.Name = fmt.Sprintf("pay%d", i)
		tools = append(tools, &other)
		source.WriteString(rule(other.Name, 9))
	}
	return newDecider(t, source.String(), tools...)
}

// sameForm checks that both paths freeze the same bytes and allow them.
func sameForm(t *testing.T, d *decider, a *assembly, raw []byte) {
	t.Helper()
	in, err := d.parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	form, err := a.parse(raw)
	if err != nil || !bytes.Equal(form, in.Proposal.Args.JSON()) {
		t.Fatalf("verbatim freezes %s, the assembly %s, %v", in.Proposal.Args.Text(), form, err)
	}
	if err := errors.Join(d.decide(raw), a.decide(raw)); err != nil {
		t.Fatal(err)
	}
}

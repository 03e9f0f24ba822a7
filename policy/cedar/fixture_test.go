package cedar_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/schema"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

const permitAll = "permit (principal, action, resource);\n"

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func node(types schema.TypeSet) *schema.Node { return &schema.Node{Types: types} }

func text() *schema.Node    { return node(schema.TypeString) }
func integer() *schema.Node { return node(schema.TypeInteger) }
func number() *schema.Node  { return node(schema.TypeNumber | schema.TypeInteger) }
func boolean() *schema.Node { return node(schema.TypeBoolean) }

func nullable(n *schema.Node) *schema.Node {
	n.Types |= schema.TypeNull
	return n
}

func list(of *schema.Node) *schema.Node {
	return &schema.Node{Types: schema.TypeArray, Items: of}
}

func object(properties ...schema.Property) *schema.Node {
	return &schema.Node{Types: schema.TypeObject, Properties: properties}
}

func must(name string, n *schema.Node) schema.Property {
	return schema.Property{Name: name, Node: n, Required: true}
}

func may(name string, n *schema.Node) schema.Property {
	return schema.Property{Name: name, Node: n}
}

// tools is the catalog of most tests.
func tools() []cedar.ToolModel {
	return []cedar.ToolModel{
		{Name: "bank.balance", Group: "read", Root: object(must("account", text()))},
		{Name: "bank.pay", Group: "high_impact", Targets: []string{"vendor"}, Root: object(
			must("amount", integer()), must("currency", text()), must("vendor", text()),
			may("rate", number()), may("note", text()), may("region", nullable(text())),
			may("tags", list(text())), may("weights", list(number())), may("lines", list(object(must("sku", text()), must("n", integer())))),
			may("to", object(must("id", text()), may("fee", number()), may("limit", nullable(integer())))),
			may("either", &schema.Node{Types: schema.TypeAny, Union: true}),
			may("extra", &schema.Node{Types: schema.TypeObject, Open: true}),
			may("mixed", node(schema.TypeString|schema.TypeInteger)), may("urgent", boolean()),
			may("cells", list(&schema.Node{Types: schema.TypeAny, Union: true})),
		)},
		{Name: "mail.draft", Group: "mutation", Root: object(must("to", list(text())), must("body", text()))},
		{Name: "open.call", Group: "mutation", Root: &schema.Node{Types: schema.TypeObject, Open: true,
			Properties: []schema.Property{may("path", text())}}},
	}
}

func load(t testing.TB, source string) *cedar.Engine {
	t.Helper()
	e, err := cedar.LoadModels(map[string][]byte{"p.cedar": []byte(source)}, tools(), cedar.Options{})
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return e
}

func frozen(t fataler, args string) snapshot.Snapshot {
	t.Helper()
	v, err := canon.Decode([]byte(args), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Freeze(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// call is one input; tests change what they care about.
func call(t fataler, tool, args string) policy.Input {
	t.Helper()
	facts := map[string]policy.Tool{
		"bank.balance": {Name: "bank.balance", Cataloged: true, Effect: "natural"},
		"bank.pay":     {Name: "bank.pay", Cataloged: true, Mutation: true, HighImpact: true, Impact: "financial", Effect: "blind"},
		"mail.draft":   {Name: "mail.draft", Cataloged: true, Mutation: true, Impact: "ordinary", Effect: "blind"},
		"open.call":    {Name: "open.call", Cataloged: true, Mutation: true, Impact: "ordinary", Effect: "blind"},
	}
	known, ok := facts[tool]
	if !ok {
		known = policy.Tool{Name: tool, Mutation: true, HighImpact: true}
	}
	return policy.Input{
		Proposal: snapshot.Propose("agent", tool, frozen(t, args)),
		Session:  identity.Session{Tenant: "acme", Principal: "ann", Roles: []string{"clerk"}, Agent: "agent", Owner: "ann"},
		Tool:     known, Turn: 3, Now: noon,
	}
}

const pay = `{"amount":500,"currency":"EUR","vendor":"VENDOR-001"}`

// judges are one engine in three ways: at once where it can, by Cedar's
// evaluator, and by that without any shortcut.
type judges struct {
	engine *cedar.Engine
	others map[string]policy.Engine
}

func judgesOf(e *cedar.Engine) judges {
	return judges{e, map[string]policy.Engine{"Cedar": deliberate{e}, "Cedar without shortcuts": deliberate{cedar.WithoutShortcuts(e)}}}
}

// decide asks all of them and wants one answer.
func (j judges) decide(t fataler, in policy.Input) policy.Decision {
	t.Helper()
	d := policy.Evaluate(context.Background(), j.engine, in, policy.MaxTimeout)
	for name, other := range j.others {
		said := policy.Evaluate(context.Background(), other, in, policy.MaxTimeout)
		if reflect.DeepEqual(said, d) {
			continue
		}
		if diff := cmp.Diff(said, d); diff != "" {
			t.Fatal(name + " says something else (-it +this):\n" + diff)
		}
	}
	return d
}

func decide(t fataler, e *cedar.Engine, in policy.Input) policy.Decision {
	t.Helper()
	return judgesOf(e).decide(t, in)
}

// deliberate decides with Decide alone. It does so where others answer at once,
// which costs no goroutine, and once more as they do if that fails.
type deliberate struct{ policy.Engine }

func (d deliberate) Answer(in policy.Input) (policy.Decision, bool) {
	said, err := d.Decide(context.Background(), in)
	return said, err == nil
}

// fataler is what a fixture needs of a test, also of one that rapid runs.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

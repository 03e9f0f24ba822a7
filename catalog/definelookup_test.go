package catalog_test

import (
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/resolve"
)

func lookup() *catalog.Lookup {
	return &catalog.Lookup{Tool: "bank.find", Arguments: map[string]string{"ref": "/vendor", "key": catalog.ProviderKey},
		At: "/status", Is: []string{"paid"}}
}

// queryable makes a tool one that is looked up.
func queryable(s *catalog.Spec) *catalog.Lookup {
	s.Effect, s.Lookup = catalog.Queryable, lookup()
	return s.Lookup
}

func TestLeftoversAreForToolsThatTakeAnything(t *testing.T) {
	t.Parallel()
	proposal := func(members string) []byte { return []byte(`{"type":"object","properties":{` + members + `}}`) }
	for name, c := range map[string]struct {
		own, proposal string
		ok            bool
	}{
		"closed tool":              {`"a":{}`, `"a":{},"b":{}`, false},
		"closed part":              {`"a":{"type":"object","properties":{"x":{}}}`, `"a":{"type":"object","properties":{"x":{},"y":{}}}`, false},
		"open part":                {`"a":{"type":"object","additionalProperties":true}`, `"a":{"type":"object","properties":{"x":{},"y":{}}}`, true},
		"closed behind open":       {`"a":{"type":"object","additionalProperties":true},"c":{}`, `"a":{"type":"object","properties":{"x":{}}},"z":{}`, false},
		"elements":                 {`"a":{"type":"array","items":{"type":"object","properties":{"x":{}}}}`, `"a":{"type":"array","items":{"type":"object","properties":{"y":{}}}}`, false},
		"part that may be several": {`"a":{"oneOf":[{"type":"object","properties":{"x":{}},"required":["x"]},{"type":"string"}]}`, `"a":{"type":"object","properties":{"q":{}}}`, true},
	} {
		_, err := catalog.Define(catalog.Spec{Name: "t", Schema: proposal(c.own), ProposalSchema: proposal(c.proposal)})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestResolvedArgumentsMeetTheToolsOwnSchema(t *testing.T) {
	t.Parallel()
	table, err := resolve.NewTable([]resolve.Row{{Alias: "Acme", ID: "VENDOR-001"}}, resolve.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := transfer()
	s.ProposalSchema = []byte(`{"type":"object","properties":{"to":{"type":"string"},"amountMinor":{"type":"integer"}},"required":["to","amountMinor"]}`)
	s.Resolvers = []resolve.Rule{{Name: "vendors", Resolver: table, From: map[string]string{"value": "/to"}, Into: map[string]string{"value": "/vendor"}}}
	s.Sentence = "Pay {amountMinor|money} to {vendor}, first {lines/0/to}"
	tool := define(t, s)
	if tool.Own == tool.Proposal {
		t.Fatal("the result of the resolvers would not be checked")
	}
	parsed, _, err := tool.Proposal.Apply(decode(t, `{"to":"Acme","amountMinor":5}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _, _, err := resolve.Apply(t.Context(), tool.Resolvers, parsed, time.Now())
	if err != nil || tool.Own.Validate(got) != nil || string(got.Canonical()) != `{"amountMinor":5,"vendor":"VENDOR-001"}` {
		t.Errorf("%s, %v", got.Canonical(), err)
	}
	s.ProposalSchema = nil
	s.Resolvers[0].From = map[string]string{"value": "/vendor"}
	if tool := define(t, s); tool.Own == tool.Proposal {
		t.Error("a resolver in place goes unchecked")
	}
}

func TestLookUpTakesItsArgumentsFromTheCall(t *testing.T) {
	t.Parallel()
	s := transfer()
	queryable(&s)
	l := define(t, s).Lookup
	args := canon.ObjectValue(canon.Member{Name: "vendor", Value: canon.StringValue("v")})
	got, ok := l.Ask(args, "k")
	if !ok || string(got.Canonical()) != `{"key":"k","ref":"v"}` {
		t.Errorf("%s %t", got.Canonical(), ok)
	}
	if _, ok := l.Ask(canon.ObjectValue(), "k"); ok {
		t.Error("it asks without what it must ask for")
	}
	if _, err := catalog.New(define(t, s)); err == nil {
		t.Error("the look-up tool does not exist")
	}
}

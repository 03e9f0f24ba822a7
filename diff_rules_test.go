package verbatim_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/schema"
)

// everyDifference is a tool on which one call can differ in every way.
func everyDifference(t *testing.T) catalog.Spec {
	t.Helper()
	vendors, err := resolve.NewTable([]resolve.Row{{Alias: "Acme", ID: "VENDOR-001"}}, resolve.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	spec := financial("pay", `{"type":"object","required":["vendorId","currency"],"properties":{"vendorId":{"type":"string"},
"amount":{"type":"integer"},"currency":{"type":"string"},"note":{"type":"string"},"by":{"type":"string"},"memo":{"type":"string"}}}`)
	spec.ProposalSchema = []byte(`{"type":"object","required":["vendor"],"properties":{"vendor":{"type":"string"},"amount":{"type":"integer"},
"currency":{"type":"string","default":"EUR"},"note":{"type":"string"},"by":{"type":"string"},"memo":{"type":"string"}}}`)
	spec.Normalize = schema.Options{NullMeansAbsent: true, Coerce: true, Unknown: schema.UnknownStrip,
		Transforms: []schema.Transform{{Pointer: "/note", Name: "trim"}}}
	spec.Identity = []identity.Member{{Pointer: "/by", Names: identity.NamesPrincipal, Fill: true}}
	spec.Resolvers = []resolve.Rule{{Name: "vendors", From: map[string]string{"value": "/vendor"}, Into: map[string]string{"value": "/vendorId"}, Resolver: vendors}}
	return spec
}

func TestEveryDifferenceReachesPolicyExplainAndRecord(t *testing.T) {
	t.Parallel()
	const asked = `{"vendor":"Acme","amount":"5","note":" x ","memo":null,"approved":true}`
	want := []canon.Change{
		{Pointer: "/memo", Kind: canon.ChangeNullDropped},
		{Pointer: "/by", Kind: canon.ChangeFilled},
		{Pointer: "/currency", Kind: canon.ChangeDefault},
		{Pointer: "/amount", Kind: canon.ChangeCoerced},
		{Pointer: "/note", Kind: canon.ChangeTransformed, By: "trim"},
		{Pointer: "/approved", Kind: canon.ChangeStripped},
		{Pointer: "/vendorId", Kind: canon.ChangeResolved, By: "vendors"},
		{Pointer: "/vendor", Kind: canon.ChangeConsumed, By: "vendors"},
	}
	var seen atomic.Value
	s := newStage(t, parts{spec: everyDifference(t), policy: policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
		seen.Store(in.Proposal.Changes)
		return policy.Decision{Effect: policy.RequireApproval, Reason: "r"}, nil
	})})
	o := s.call(asked)
	row := s.state(o.ActionID, action.PendingApproval)
	e, err := s.Gate.Explain(t.Context(), s.Session(), verbatim.Call{Tool: s.name, Arguments: []byte(asked)})
	if err != nil {
		t.Fatal(err)
	}
	for where, got := range map[string][]canon.Change{"policy": seen.Load().([]canon.Change), "record": row.Changes, "explain": e.Changes} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", where, diff)
		}
	}
	if e.Requested != `{"amount":"5","approved":true,"memo":null,"note":" x ","vendor":"Acme"}` || row.Payload.Requested != e.Requested {
		t.Errorf("requested: %s and %s", e.Requested, row.Payload.Requested)
	}
	if e.Parsed != `{"amount":5,"by":"`+s.Session().Principal+`","currency":"EUR","note":"x","vendorId":"VENDOR-001"}` || row.Payload.Args != e.Parsed {
		t.Errorf("effective: %s and %s", e.Parsed, row.Payload.Args)
	}
}

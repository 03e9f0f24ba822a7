package verbatim_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
)

func TestDenyBeatsRequireApprovalBeatsAllow(t *testing.T) {
	t.Parallel()
	all := []policy.Effect{policy.Allow, policy.RequireApproval, policy.Deny}
	for _, a := range all {
		for _, b := range all {
			t.Run(a.String()+" with "+b.String(), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, parts{policy: policy.FromFunc("v1", func(context.Context, policy.Input) (policy.Decision, error) {
					return policy.Combine(policy.Decision{Effect: a, Reason: "a"}, policy.Decision{Effect: b, Reason: "b"}), nil
				})})
				code := map[policy.Effect]verbatim.Code{policy.Allow: verbatim.CodeOK,
					policy.RequireApproval: verbatim.CodeApprovalRequired, policy.Deny: verbatim.CodePolicyDenied}[min(a, b)]
				if o := s.call(`{}`); o.Code != code {
					t.Errorf("got %s, want %s", o.Code, code)
				}
			})
		}
	}
}

func TestHighImpactNeverRunsOnAMereAllow(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]parts{
		"irreversible":            {spec: catalog.Spec{Name: "x", Schema: []byte(noteSchema), Impact: catalog.Irreversible}},
		"financial":               {spec: financial("x", noteSchema)},
		"administrative":          {spec: catalog.Spec{Name: "x", Schema: []byte(noteSchema), Impact: catalog.Administrative}},
		"external":                {spec: catalog.Spec{Name: "x", Schema: []byte(noteSchema), Impact: catalog.External}},
		"no class at all":         {spec: catalog.Spec{Name: "x", Schema: []byte(noteSchema)}},
		"raised by policy":        {policy: answering(policy.Decision{Effect: policy.Allow, Reason: "r", RaiseImpact: true})},
		"a read raised":           {spec: reading("x", noteSchema), policy: answering(policy.Decision{Effect: policy.Allow, Reason: "r", RaiseImpact: true})},
		"listed but uncatalogued": {tool: func(b *catalog.Tool) { b.Cataloged = false }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, p)
			o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
			s.runs(0)
			if a := s.state(o.ActionID, action.Approved); diffReq(a) != "" {
				t.Error(diffReq(a))
			}
			want(t, s.call(`{}`), verbatim.StatusOK, verbatim.CodeOK)
			s.runs(1)
		})
	}
}

// diffReq compares with the configuration's groups.
func diffReq(a action.Action) string {
	return cmp.Diff([]action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}, a.Terms.Requirements)
}

func TestCatalogGroupsComeBeforeTheConfigurations(t *testing.T) {
	t.Parallel()
	spec := financial("pay", noteSchema)
	spec.Groups = []action.Requirement{{AnyOf: []action.Group{{Name: "finance", Votes: 2}}}}
	s := newStage(t, parts{spec: spec})
	a := s.state(s.call(`{}`).ActionID, action.PendingApproval)
	if diff := cmp.Diff(spec.Groups, a.Terms.Requirements); diff != "" {
		t.Error(diff)
	}
}

func TestNewFailsWhereNobodyCouldApprove(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	tools, err := verbatim.NewToolset(bind(t, financial("pay", noteSchema), s.probe))
	if err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]verbatim.Config{
		"no approvers":    {Store: s.Store, Tools: tools},
		"no store":        {Tools: tools, Approvers: oneAdmin},
		"no tools":        {Store: s.Store, Approvers: oneAdmin},
		"unknown mode":    {Store: s.Store, Tools: tools, Approvers: oneAdmin, Denials: "shout"},
		"no handler":      {Store: s.Store, Tools: verbatim.Toolset{"note": {Tool: s.bound.Tool}}, Approvers: oneAdmin},
		"another's name":  {Store: s.Store, Tools: verbatim.Toolset{"other": s.bound}, Approvers: oneAdmin},
		"no definition":   {Store: s.Store, Tools: verbatim.Toolset{"note": {Handler: s.probe}}, Approvers: oneAdmin},
		"argument errors": {Store: s.Store, Tools: tools, Approvers: oneAdmin, ArgumentErrors: "shout"},
	} {
		if _, err := verbatim.New(cfg); err == nil || !strings.HasPrefix(err.Error(), "verbatim: ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := verbatim.New(verbatim.Config{Store: s.Store, Tools: tools, Approvers: oneAdmin}); err != nil {
		t.Error(err)
	}
}

var oneAdmin = []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}

func TestHighImpactToolFoundLaterIsDeniedWithoutApprovers(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{gate: func(c *verbatim.Config) { c.Approvers = []action.Requirement{} }})
	pay := bind(t, financial("pay", noteSchema), s.probe)
	o, err := s.Gate.With(verbatim.Toolset{"pay": pay}).Call(t.Context(), s.Session(), verbatim.Call{Tool: "pay", Arguments: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	want(t, o, verbatim.StatusDenied, verbatim.CodeInvalidPolicyResult)
	s.runs(0)
}

func TestUnknownToolAndSpoofDoNotAskPolicy(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	spec := ordinary("note", `{"type":"object","properties":{"user":{"type":"string"},"list":{"type":"array","items":{"type":"string"}}}}`)
	spec.Identity = []identity.Member{{Pointer: "/user", Names: identity.NamesPrincipal}, {Pointer: "/list/*", Names: identity.NamesPrincipal}}
	s := newStage(t, parts{spec: spec, policy: allowing(func(map[string]any) { asked.Add(1) })})
	closed := s.bound
	closed.Refused = verbatim.CodeDefinitionChanged
	for _, tc := range []struct {
		name, tool, raw string
		tools           verbatim.Tools
		code            verbatim.Code
	}{
		{"unknown", "nothing", `{"x":1}`, nil, verbatim.CodeUnknownTool},
		{"spoofed", "note", `{"user":"otto"}`, nil, verbatim.CodeIdentitySpoof},
		{"spoofed in case", "note", `{"user":"Maria"}`, nil, verbatim.CodeIdentitySpoof},
		{"spoofed in white space", "note", `{"user":"maria "}`, nil, verbatim.CodeIdentitySpoof},
		{"spoofed in an element", "note", `{"list":["maria","otto"]}`, nil, verbatim.CodeIdentitySpoof},
		{"closed", "note", `{}`, verbatim.Toolset{"note": closed}, verbatim.CodeDefinitionChanged},
	} {
		gate := s.Gate
		if tc.tools != nil {
			gate = s.Gate.With(tc.tools)
		}
		o, err := gate.Call(t.Context(), s.Session(), verbatim.Call{Tool: tc.tool, Arguments: []byte(tc.raw)})
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		want(t, o, verbatim.StatusDenied, tc.code)
		if a := s.state(o.ActionID, action.Denied); a.Decision.Reason != string(tc.code) || len(o.ProposalHash) != 64 {
			t.Errorf("%s: reason %q, hash %q", tc.name, a.Decision.Reason, o.ProposalHash)
		}
	}
	if asked.Load() != 0 {
		t.Errorf("policy was asked %d times", asked.Load())
	}
	s.runs(0)
	want(t, s.call(`{"user":"maria","list":["maria"]}`), verbatim.StatusOK, verbatim.CodeOK)
}

func TestPolicySeesAuthenticatedFactsOnly(t *testing.T) {
	t.Parallel()
	var got policy.Input
	spec := ordinary("note", `{"type":"object","properties":{"id":{"type":"string"}}}`)
	spec.Targets = []catalog.TargetRule{{Type: "Note", Pointer: "/id"}}
	s := newStage(t, parts{spec: spec, policy: policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
		got = in
		return policy.Decision{Effect: policy.Allow, Reason: "r"}, nil
	})})
	session := s.Session()
	session.Roles, session.Task, session.Taint = []string{"clerk"}, "task-1", []string{"read_untrusted_web"}
	s.as(session, verbatim.Call{Arguments: []byte(`{"id":"n1"}`), Turn: 3, RunContext: "opaque"})
	if diff := cmp.Diff(session, got.Session); diff != "" {
		t.Error(diff)
	}
	tool := policy.Tool{Name: "note", Mutation: true, Impact: "ordinary", Effect: "blind", Cataloged: true}
	if diff := cmp.Diff(tool, got.Tool); diff != "" {
		t.Error(diff)
	}
	if got.Turn != 3 || got.RunContext != "opaque" || string(got.RawArguments) != `{"id":"n1"}` || !got.Now.Equal(s.Clock.Now()) ||
		len(got.Proposal.Targets) != 1 || got.Proposal.Targets[0].ID != "n1" || got.Proposal.AgentName != "Support Agent" {
		t.Errorf("policy saw %+v", got)
	}
}

func TestAReadThatPolicyWantsApprovedWaitsForPeople(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: reading("look", noteSchema), policy: decide(policy.RequireApproval)})
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	s.runs(0)
	want(t, s.call(`{}`), verbatim.StatusOK, verbatim.CodeOK)
	s.state(o.ActionID, action.Succeeded)
	s.runs(1)
}

func TestDecisionEndsAtItsOwnEnd(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ends time.Duration // the dry run takes a minute
		code verbatim.Code
	}{
		"before the run": {30 * time.Second, verbatim.CodeExpired},
		"at the run":     {time.Minute, verbatim.CodeExpired},
		"after the run":  {time.Minute + time.Millisecond, verbatim.CodeOK},
	} {
		spec := ordinary("note", noteSchema)
		var s *stage
		spec.DryRun = dryRun(func() { s.Clock.Advance(time.Minute) })
		s = newStage(t, parts{spec: spec, policy: policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
			return policy.Decision{Effect: policy.Allow, Reason: "r", ExpiresAt: in.Now.Add(tc.ends)}, nil
		})})
		o := s.call(`{}`)
		if o.Code != tc.code || (o.Code == verbatim.CodeOK) != (o.Member == "") {
			t.Errorf("%s: got %s of %q", name, o.Code, o.Member)
		}
	}
}

func TestClockThatFailsBeforeTheRunRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: answering(policy.Decision{Effect: policy.Allow, Reason: "r", ExpiresAt: startOfClock().Add(time.Hour)})})
	asked := 0
	s.store.on("Now", func() error {
		if asked++; asked > 1 {
			return errDisk
		}
		return nil
	})
	if _, err := s.Gate.Call(t.Context(), s.Session(), verbatim.Call{Tool: s.name, Arguments: []byte(`{}`)}); !errors.Is(err, verbatim.ErrRecord) {
		t.Errorf("got %v", err)
	}
	s.runs(0)
}

func TestPolicyIsToldWhetherTheApprovalCoversExactlyThisCall(t *testing.T) {
	t.Parallel()
	for _, moved := range []bool{false, true} {
		var mu sync.Mutex
		var told []policy.ApprovalFacts
		p := payeesInGo(t)
		p.point("VENDOR-001")
		s := newStage(t, parts{spec: paying(p.resolver, nil), policy: policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
			mu.Lock()
			defer mu.Unlock()
			if in.Approval != nil {
				told = append(told, *in.Approval)
			}
			return policy.Decision{Effect: policy.RequireApproval, Reason: "r"}, nil
		})})
		o := s.approved(verbatim.Call{Arguments: payment(1)})
		if moved {
			p.point("VENDOR-002")
		}
		s.with(verbatim.Call{Arguments: payment(1), Approval: o.ActionID})
		want := []policy.ApprovalFacts{{ID: o.ActionID, Voters: []string{"ada"}, Exact: !moved}}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("moved %v: %s", moved, diff)
		}
		s.runs(map[bool]int{false: 1, true: 0}[moved])
	}
}

package verbatim_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/schema"
)

// resolver is a resolver of an embedder.
type resolver func(ctx context.Context) (resolve.Answer, error)

func (r resolver) Resolve(ctx context.Context, _ map[string]canon.Value) (resolve.Answer, error) {
	return r(ctx)
}

func TestCodeOfTheEmbedderThatBreaksRefusesTheCall(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	transform := func(f schema.TransformFunc) catalog.Spec {
		spec := ordinary("note", noteSchema)
		spec.Normalize.Transforms = []schema.Transform{{Pointer: "/text", Name: "own", Func: f}}
		return spec
	}
	resolving := func(r resolver) catalog.Spec {
		spec := ordinary("note", noteSchema)
		spec.Resolvers = []resolve.Rule{{Name: "own", From: map[string]string{"value": "/text"}, Into: map[string]string{"value": "/text"}, Resolver: r}}
		return spec
	}
	for _, tc := range []struct {
		name  string
		spec  catalog.Spec
		stage string
	}{
		{"a transform that panics", transform(func(canon.Value) (canon.Value, error) { panic("SECRET") }), verbatim.StageSchema},
		{"a transform that never returns", transform(func(v canon.Value) (canon.Value, error) { <-never; return v, nil }), verbatim.StageSchema},
		{"a transform that ends its goroutine", transform(func(v canon.Value) (canon.Value, error) { runtime.Goexit(); return v, nil }), verbatim.StageSchema},
		{"a resolver that panics", resolving(func(context.Context) (resolve.Answer, error) { panic("SECRET") }), verbatim.StageResolve},
		{"a resolver that never returns", resolving(func(context.Context) (resolve.Answer, error) { <-never; return resolve.Answer{}, nil }), verbatim.StageResolve},
		{"a resolver that ends its goroutine", resolving(func(context.Context) (resolve.Answer, error) { runtime.Goexit(); return resolve.Answer{}, nil }), verbatim.StageResolve},
		{"a resolver without a version", resolving(func(context.Context) (resolve.Answer, error) {
			return resolve.Answer{Values: map[string]canon.Value{"value": canon.StringValue("x")}}, nil
		}), verbatim.StageResolve},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, parts{spec: tc.spec, gate: func(c *verbatim.Config) { c.ResolveTimeout = 100 * time.Millisecond }})
			o := s.call(`{"text":"SECRET"}`)
			if o.Status != verbatim.StatusInvalidArguments || o.Stage != tc.stage {
				t.Fatalf("got %s at %s", o.Code, o.Stage)
			}
			if strings.Contains(string(o.Envelope()), "SECRET") {
				t.Errorf("a value is printed: %s", o.Envelope())
			}
			s.runs(0)
			if len(s.rows()) != 0 {
				t.Error("it made a decision")
			}
		})
	}
}

// mute is an engine whose version cannot be had.
type mute struct{ policy.Engine }

func (mute) Version(string) string { panic("no version") }

func TestEngineWithoutAVersionDeniesAndDoesNotEndTheProcess(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]policy.Decision{
		"none said":    {Effect: policy.Allow, Reason: "r"},
		"one made up":  {Effect: policy.Allow, Reason: "r", PolicyVersion: "made up"},
		"for approval": {Effect: policy.RequireApproval, Reason: "r", PolicyVersion: "made up"},
	} {
		for kind, spec := range map[string]catalog.Spec{"mutation": ordinary("x", noteSchema), "read": reading("x", noteSchema)} {
			s := newStage(t, parts{spec: spec, policy: &mute{answering(d)}})
			o := s.call(`{}`)
			if o.Status != verbatim.StatusDenied || o.Code != verbatim.CodePolicyError {
				t.Errorf("%s of a %s: got %s", name, kind, o.Code)
			}
			s.runs(0)
		}
	}
}

func TestRulesReplacedDuringTheWalkDoNotComeBack(t *testing.T) {
	t.Parallel()
	var l *live
	replaced := false
	old := policy.FromFunc("v1", func(ctx context.Context, in policy.Input) (policy.Decision, error) {
		if !replaced { // the operator closes the tool while the call walks
			replaced = true
			l.replace(policy.FromFunc("v2", answer(policy.Deny)))
		}
		return answer(policy.Allow)(ctx, in)
	})
	l = newLive(old)
	s := newStage(t, parts{policy: l})
	o := s.call(`{}`)
	want(t, o, verbatim.StatusDenied, verbatim.CodePolicyChanged)
	if o.Member != "policyVersion" {
		t.Errorf("member %q", o.Member)
	}
	s.runs(0)
	s.state(o.ActionID, action.Denied)
	version := s.state(s.call(`{}`).ActionID, action.Denied).Decision.PolicyVersion
	if strings.HasSuffix(version, ".0") {
		t.Errorf("the rules in force have no epoch: %s", version)
	}
	s.runs(0)
}

func TestOldRulesNeverOvertakeNewOnesAtTheCommitPoint(t *testing.T) {
	t.Parallel()
	l := newLive(policy.FromFunc("v1", answer(policy.Allow)))
	s := newStage(t, parts{policy: l})
	want(t, s.call(`{}`), verbatim.StatusOK, verbatim.CodeOK)
	s.store.on("Begin", func() error {
		s.store.on("Begin", nil)
		l.replace(policy.FromFunc("v2", answer(policy.Deny)))
		want(t, s.call(`{}`), verbatim.StatusDenied, verbatim.CodePolicyDenied) // the store learns of v2
		return nil
	})
	want(t, s.call(`{}`), verbatim.StatusDenied, verbatim.CodePolicyChanged)
	s.runs(1)
}

func TestRulesReplacedDuringADryRunDoNotDecide(t *testing.T) {
	t.Parallel()
	for _, effect := range []policy.Effect{policy.Allow, policy.RequireApproval} {
		l := newLive(policy.FromFunc("v1", answer(effect)))
		spec := ordinary("note", noteSchema)
		spec.DryRun = dryRun(func() { l.replace(policy.FromFunc("v2", answer(policy.Deny))) })
		s := newStage(t, parts{spec: spec, policy: l})
		o := s.call(`{}`)
		want(t, o, verbatim.StatusDenied, verbatim.CodePolicyChanged)
		if o.Member != "policyVersion" {
			t.Errorf("member %q", o.Member)
		}
		s.state(o.ActionID, action.Denied) // nobody is asked for what can never run
		s.runs(0)
	}
}

func TestPolicyThatAsksForMoreVoidsWhatWasGiven(t *testing.T) {
	t.Parallel()
	one := []action.Requirement{groups(action.Group{Name: "admin", Votes: 1})}
	for name, more := range map[string]policy.Approval{
		"more votes":     {Requirements: []action.Requirement{groups(action.Group{Name: "admin", Votes: 2})}},
		"more groups":    {Requirements: append(one, groups(action.Group{Name: "finance", Votes: 1}))},
		"a fresh log-in": {Requirements: one, StepUp: true},
	} {
		s := newStage(t, parts{policy: policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
			terms := policy.Approval{Requirements: one}
			if in.Approval != nil {
				terms = more
			}
			return policy.Decision{Effect: policy.RequireApproval, Reason: "r", Approval: &terms}, nil
		})})
		o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
		got := s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID})
		if got.Code != verbatim.CodeApprovalStale || got.Member != "requirements" {
			t.Errorf("%s: got %s of %s", name, got.Code, got.Member)
		}
		s.runs(0)
	}
}

func TestDenialAtTheResumeSaysWhatPolicySaysNow(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: policy.FromFunc("v1", func(_ context.Context, in policy.Input) (policy.Decision, error) {
		if in.Approval != nil {
			return policy.Decision{Effect: policy.Deny, Reason: "internal now", PublicReason: "closed for the night", Rules: []string{"night"}}, nil
		}
		return policy.Decision{Effect: policy.RequireApproval, Reason: "internal then", PublicReason: "ask finance"}, nil
	})})
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	got := s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID})
	a := s.state(o.ActionID, action.Denied)
	if got.PublicReason != "closed for the night" || a.Decision.Reason != "policy_denied: decision: internal now" || a.Decision.Rules[0] != "night" {
		t.Errorf("said %q, recorded %+v", got.PublicReason, a.Decision)
	}
}

func TestStaleApprovalDoesNotRepeatWhyItWasAskedFor(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: answering(policy.Decision{Effect: policy.RequireApproval, Reason: "r", PublicReason: "ask finance"})})
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	session := s.Session()
	session.Task = "other"
	got := s.as(session, verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID})
	want(t, got, verbatim.StatusDenied, verbatim.CodeApprovalStale)
	if a := s.state(o.ActionID, action.Denied); got.PublicReason != "" || a.Decision.Reason != "approval_stale: task" {
		t.Errorf("said %q, recorded %q", got.PublicReason, a.Decision.Reason)
	}
}

func TestPolicyMayAllowOnceItSeesTheApproval(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: policy.FromFunc("v1", func(ctx context.Context, in policy.Input) (policy.Decision, error) {
		if in.Approval != nil {
			return answer(policy.Allow)(ctx, in)
		}
		return answer(policy.RequireApproval)(ctx, in)
	})})
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID}), verbatim.StatusOK, verbatim.CodeOK)
	s.runs(1)
}

func TestStopLeavesNothingClaimed(t *testing.T) {
	t.Parallel()
	stop := action.Stop{Tenant: "acme", Tool: "note", By: "ada", Reason: "incident"}
	for name, tc := range map[string]parts{
		"an allowed call": {},
		"an approved one": {policy: decide(policy.RequireApproval)},
		"a read":          {spec: reading("note", noteSchema)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, tc)
			c := verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"}
			if tc.policy != nil {
				s.approved(c)
			}
			if _, err := s.Store.Stop(t.Context(), stop); err != nil {
				t.Fatal(err)
			}
			o := s.with(c)
			want(t, o, verbatim.StatusDenied, verbatim.CodeStopped)
			state := action.Denied
			if tc.policy != nil { // the approval is of use once the stop is lifted
				state = action.Approved
			}
			s.state(o.ActionID, state)
			s.runs(0)
			if err := s.Store.Resume(t.Context(), stop); err != nil {
				t.Fatal(err)
			}
			want(t, s.with(c), verbatim.StatusOK, verbatim.CodeOK)
		})
	}
}

func TestApprovalBesideAnUncertainTwinIsVoid(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	session := s.Session()
	a := s.as(session, verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "a"})
	b := s.as(session, verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "b"})
	s.Approve(a.ActionID, "ada")
	s.Approve(b.ActionID, "ada")
	s.probe.set(failing(execute.ErrLost))
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "a"}), verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	got := s.with(verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "b"})
	want(t, got, verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	if got.ActionID != a.ActionID {
		t.Errorf("the answer is about %s", got.ActionID)
	}
	s.state(b.ActionID, action.Denied)
	s.runs(1)
}

func TestCallerThatLeavesVoidsNothing(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"Joinable", "Votes", "Claim", "Begin"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, parts{policy: decide(policy.RequireApproval)})
			o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
			ctx, cancel := context.WithCancel(t.Context())
			s.store.on(verb, func() error { cancel(); return nil })
			if _, err := s.Gate.Call(ctx, s.Session(), verbatim.Call{Tool: s.name, Arguments: []byte(`{}`)}); err == nil {
				s.Gate.Wait()
				s.runs(1) // it was past the commit point
				return
			}
			s.store.on(verb, nil)
			s.runs(0)
			s.Clock.Advance(31 * time.Second)
			got := s.call(`{}`)
			want(t, got, verbatim.StatusOK, verbatim.CodeOK)
			if got.ActionID != o.ActionID {
				t.Error("the approval was lost")
			}
		})
	}
}

func TestReadOfACallerThatLeftEnds(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: reading("look", noteSchema)})
	started, ended := make(chan struct{}), make(chan struct{})
	s.probe.set(func(ctx context.Context, _ execute.Input) (execute.Output, error) {
		close(started)
		<-ctx.Done()
		close(ended)
		return execute.Output{}, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := s.begin(ctx, verbatim.Call{Arguments: []byte(`{}`)})
	<-started
	cancel()
	want(t, <-done, verbatim.StatusFailed, verbatim.CodeToolTimeout)
	<-ended
}

func TestMisshapenNamesAreRefusedOrDenied(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	for _, name := range []string{"", "\xff", "note\x00", "Note", "note ", "ｎote", strings.Repeat("n", 1<<20)} {
		o, err := s.Gate.Call(t.Context(), s.Session(), verbatim.Call{Tool: name, Arguments: []byte(`{}`)})
		if err != nil || o.Status != verbatim.StatusDenied && o.Status != verbatim.StatusInvalidArguments {
			t.Errorf("%.20q: %s %v", name, o.Code, err)
		}
	}
	s.runs(0)
	for _, row := range s.rows() {
		if len(row.Tool) > catalog.MaxNameBytes {
			t.Errorf("a name of %d bytes was stored", len(row.Tool))
		}
	}
}

func TestNothingIsLeftRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	for range 20 {
		o := s.with(verbatim.Call{Arguments: []byte(`{}`), Wait: time.Millisecond})
		s.Approve(o.ActionID, "ada")
		want(t, s.call(`{}`), verbatim.StatusOK, verbatim.CodeOK)
	}
	s.Gate.Wait()
	if err := s.Store.Close(); err != nil {
		t.Fatal(err)
	}
	s.eventually("every goroutine has ended", func() bool { return runtime.NumGoroutine() <= before+1 })
}

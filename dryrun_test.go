package verbatim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
)

// dryRun previews {"total":1} after doing something.
func dryRun(before func()) *catalog.DryRun {
	return &catalog.DryRun{Required: true, Func: func(context.Context, canon.Value) (canon.Value, error) {
		before()
		return canon.Decode([]byte(`{"total":1}`), canon.Options{})
	}}
}

func previewing(f func() (string, error)) *catalog.DryRun {
	return &catalog.DryRun{Required: true, Recheck: true, Func: func(context.Context, canon.Value) (canon.Value, error) {
		text, err := f()
		if err != nil {
			return canon.Value{}, err
		}
		return canon.Decode([]byte(text), canon.Options{})
	}}
}

func TestFailedDryRunDeniesAfterAllowToo(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	for name, f := range map[string]func() (string, error){
		"an error":                   func() (string, error) { return "", errDisk },
		"a panic":                    func() (string, error) { panic("secret") },
		"no answer":                  func() (string, error) { <-never; return "{}", nil },
		"not even a JSON":            func() (string, error) { return "{", nil },
		"more than a preview may be": func() (string, error) { return `"` + strings.Repeat("x", verbatim.MaxPreview) + `"`, nil },
	} {
		for _, effect := range []policy.Effect{policy.Allow, policy.RequireApproval} {
			t.Run(name+" after "+effect.String(), func(t *testing.T) {
				t.Parallel()
				spec := ordinary("note", noteSchema)
				spec.DryRun = previewing(f)
				s := newStage(t, parts{spec: spec, policy: decide(effect),
					tool: func(b *catalog.Tool) { b.DryRun.Timeout = 100 * time.Millisecond }})
				o := s.call(`{}`)
				want(t, o, verbatim.StatusDenied, verbatim.CodeDryRunFailed)
				s.state(o.ActionID, action.Denied)
				s.runs(0)
			})
		}
	}
}

func TestDryRunIsNotMadeForADenial(t *testing.T) {
	t.Parallel()
	spec := ordinary("note", noteSchema)
	spec.DryRun = dryRun(func() { t.Error("a denied call was previewed") })
	s := newStage(t, parts{spec: spec, policy: decide(policy.Deny)})
	want(t, s.call(`{}`), verbatim.StatusDenied, verbatim.CodePolicyDenied)
}

const switchSchema = `{"type":"object","properties":{"id":{"type":"string"},"dryRun":{"type":"boolean"}}}`

func TestDryRunArgumentIsSplicedInForThePreviewOnly(t *testing.T) {
	t.Parallel()
	spec := ordinary("drop", switchSchema)
	spec.DryRun = &catalog.DryRun{Required: true, Argument: "/dryRun"}
	s := newStage(t, parts{spec: spec, policy: decide(policy.RequireApproval)})
	var previews []bool
	s.probe.set(func(_ context.Context, in execute.Input) (execute.Output, error) {
		previews = append(previews, in.Preview())
		return execute.Output{Bytes: []byte(`{"rows":3}`)}, nil
	})
	o := s.approved(verbatim.Call{Arguments: []byte(`{"id":"a"}`)})
	a := s.state(o.ActionID, action.Approved)
	if a.Payload.Args != `{"id":"a"}` || a.Payload.Preview != `{"rows":3}` || a.Terms.Preview.IsZero() {
		t.Errorf("args %s, preview %s", a.Payload.Args, a.Payload.Preview)
	}
	want(t, s.call(`{"id":"a"}`), verbatim.StatusOK, verbatim.CodeOK)
	if diff := cmp.Diff([]string{`{"dryRun":true,"id":"a"}`, `{"id":"a"}`}, s.probe.ran()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]bool{true, false}, previews); diff != "" {
		t.Error(diff)
	}
}

func TestModelCannotSendTheDryRunArgument(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`{"id":"a","dryRun":false}`, `{"id":"a","dryRun":true}`, `{"dryrun":true}`, `{"dryRun":null}`, `{"\u0064ryRun":true}`} {
		spec := ordinary("drop", switchSchema)
		spec.DryRun = &catalog.DryRun{Required: true, Argument: "/dryRun"}
		spec.Normalize.NullMeansAbsent = true
		s := newStage(t, parts{spec: spec})
		o := s.call(raw)
		want(t, o, verbatim.StatusInvalidArguments, verbatim.CodeInvalidArguments)
		s.runs(0)
		if len(s.rows()) != 0 {
			t.Errorf("%s made a decision", raw)
		}
	}
}

func TestDryRunThroughAnotherToolIsNeverAMutation(t *testing.T) {
	t.Parallel()
	other := &probe{}
	for name, tc := range map[string]struct {
		spec catalog.Spec
		code verbatim.Code
	}{
		"a read":     {reading("plan", noteSchema), verbatim.CodeOK},
		"a mutation": {ordinary("plan", noteSchema), verbatim.CodeDryRunFailed},
		"missing":    {reading("other", noteSchema), verbatim.CodeDryRunFailed},
	} {
		spec := ordinary("note", noteSchema)
		spec.DryRun = &catalog.DryRun{Required: true, Tool: "plan"}
		s := newStage(t, parts{spec: spec, more: []verbatim.Bound{bind(t, tc.spec, other)}})
		if o := s.call(`{}`); o.Code != tc.code {
			t.Errorf("%s: got %s", name, o.Code)
		}
	}
	if n := len(other.ran()); n != 1 {
		t.Errorf("previews ran %d times", n)
	}
}

func TestRecheckedDryRunMustStillSayTheSame(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, first, second string
		err                 error
		compare             []string
		code                verbatim.Code
	}{
		{name: "the same", first: `{"total":1,"at":1}`, second: `{"at":1,"total":1}`, code: verbatim.CodeOK},
		{name: "another total", first: `{"total":1}`, second: `{"total":2}`, code: verbatim.CodeApprovalStale},
		{name: "a clock that does not count", first: `{"total":1,"at":1}`, second: `{"total":1,"at":2}`, compare: []string{"/total"}, code: verbatim.CodeOK},
		{name: "a total that counts", first: `{"total":1,"at":1}`, second: `{"total":2,"at":1}`, compare: []string{"/total"}, code: verbatim.CodeApprovalStale},
		{name: "null is not absent", first: `{"total":null}`, second: `{}`, compare: []string{"/total"}, code: verbatim.CodeApprovalStale},
		{name: "no preview any more", first: `{}`, err: errDisk, code: verbatim.CodeDryRunFailed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			again := false
			spec := ordinary("note", noteSchema)
			spec.DryRun = previewing(func() (string, error) {
				if again {
					return tc.second, tc.err
				}
				return tc.first, nil
			})
			spec.DryRun.Compare = tc.compare
			s := newStage(t, parts{spec: spec, policy: decide(policy.RequireApproval)})
			o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
			again = true
			got := s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID})
			if got.Code != tc.code || got.ActionID != o.ActionID {
				t.Fatalf("got %s, want %s", got.Code, tc.code)
			}
			if tc.code != verbatim.CodeOK {
				if got.Member != "dryRunDigest" {
					t.Errorf("member %q", got.Member)
				}
				s.state(o.ActionID, action.Denied)
				s.runs(0)
			}
		})
	}
}

func TestPreviewOfTheLargestSizeIsKept(t *testing.T) {
	t.Parallel()
	largest := `"` + strings.Repeat("x", verbatim.MaxPreview-2) + `"`
	spec := ordinary("note", noteSchema)
	spec.DryRun = previewing(func() (string, error) { return largest, nil })
	s := newStage(t, parts{spec: spec, policy: decide(policy.RequireApproval)})
	if a := s.state(s.call(`{}`).ActionID, action.PendingApproval); a.Payload.Preview != largest {
		t.Errorf("%d of %d bytes were kept", len(a.Payload.Preview), len(largest))
	}
}

// The recorded fault has a second way to make a plan, on which no preview is
// stored and so none is compared. Here every way is one walk.
func TestM01NoWayToAnApprovalGoesAroundTheDryRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]verbatim.Call{
		"a plain call":             {Arguments: []byte(`{}`)},
		"a key":                    {Arguments: []byte(`{}`), IdempotencyKey: "k"},
		"an approval that is none": {Arguments: []byte(`{}`), Approval: "act_none"},
		"a run that it supersedes": {Arguments: []byte(`{}`), Supersedes: "act_none"},
	} {
		spec := ordinary("note", noteSchema)
		spec.DryRun = previewing(func() (string, error) { return "", errDisk })
		s := newStage(t, parts{spec: spec, policy: decide(policy.RequireApproval)})
		if o := s.with(c); o.Status != verbatim.StatusDenied && o.Status != verbatim.StatusInvalidArguments {
			t.Errorf("%s: %s %s", name, o.Status, o.Code)
		}
		for _, a := range s.rows() {
			if a.State != action.Denied {
				t.Errorf("%s: an action is %s without a preview", name, a.State)
			}
		}
		s.runs(0)
	}
}

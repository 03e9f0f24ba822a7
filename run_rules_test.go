package verbatim_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
)

// ending is how one run of a mutation and of a read must end.
type ending struct {
	state    action.State
	code     verbatim.Code
	evidence string
}

func failing(err error) func(context.Context, execute.Input) (execute.Output, error) {
	return func(context.Context, execute.Input) (execute.Output, error) { return execute.Output{}, err }
}

func TestHowARunEnds(t *testing.T) {
	t.Parallel()
	uncertain := ending{action.Uncertain, verbatim.CodeOutcomeUncertain, ""}
	reported := ending{action.Failed, verbatim.CodeToolError, action.EvidenceReported}
	proved := ending{action.Failed, verbatim.CodeToolNotRun, action.EvidenceProved}
	late := ending{action.Failed, verbatim.CodeToolTimeout, ""}
	broken := ending{action.Failed, verbatim.CodeToolError, ""}
	ok := ending{action.Succeeded, verbatim.CodeOK, ""}
	for _, tc := range []struct {
		name                   string
		do                     func(context.Context, execute.Input) (execute.Output, error)
		ordinary, money, looks ending
	}{
		{"an answer", nil, ok, ok, ok},
		{"isError", func(context.Context, execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: []byte(`{"e":1}`), IsError: true}, nil
		}, reported, uncertain, ok},
		{"an error", failing(errors.New("busy")), reported, uncertain, reported},
		{"proof that nothing was sent", failing(fmt.Errorf("%w: no route", execute.ErrNotRun)), proved, proved, proved},
		{"a lost connection", failing(execute.ErrLost), uncertain, uncertain, broken},
		{"a stream that ended", failing(fmt.Errorf("read: %w", io.ErrUnexpectedEOF)), uncertain, uncertain, broken},
		{"a connection reset", failing(&net.OpError{Op: "read", Err: errors.New("reset")}), uncertain, uncertain, broken},
		{"a refused dial", failing(&net.OpError{Op: "dial", Err: errors.New("refused")}), reported, uncertain, reported},
		{"its own deadline", failing(os.ErrDeadlineExceeded), uncertain, uncertain, broken},
		{"a cancelled context", failing(context.Canceled), uncertain, uncertain, broken},
		{"a panic", func(context.Context, execute.Input) (execute.Output, error) { panic("secret") }, uncertain, uncertain, broken},
		{"a goroutine that ends", func(context.Context, execute.Input) (execute.Output, error) {
			runtime.Goexit()
			return execute.Output{}, nil
		}, uncertain, uncertain, broken},
		{"no answer in time", func(ctx context.Context, _ execute.Input) (execute.Output, error) {
			<-ctx.Done()
			return execute.Output{}, ctx.Err()
		}, uncertain, uncertain, late},
		{"too large an answer", func(context.Context, execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: make([]byte, execute.MaxOutput+1)}, nil
		}, uncertain, uncertain, ending{action.Failed, verbatim.CodeToolResultTooLarge, action.EvidenceReported}},
	} {
		for kind, k := range map[string]struct {
			spec catalog.Spec
			want ending
		}{"ordinary": {ordinary("x", noteSchema), tc.ordinary}, "financial": {financial("x", noteSchema), tc.money},
			"read": {reading("x", noteSchema), tc.looks}} {
			t.Run(tc.name+" of a tool that is "+kind, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, parts{spec: k.spec, tool: quick(tc.name)})
				s.probe.set(tc.do)
				if kind == "financial" {
					s.approved(verbatim.Call{Arguments: []byte(`{}`)})
				}
				o := s.call(`{}`)
				if diff := cmp.Diff(k.want, ending{o.State, o.Code, o.Evidence}, cmp.AllowUnexported(ending{})); diff != "" {
					t.Fatal(diff)
				}
				s.runs(1)
				if kind != "read" {
					s.state(o.ActionID, k.want.state)
				}
				if tc.name == "isError" && (string(o.Output) != `{"e":1}` || !o.IsError) {
					t.Errorf("the tool's own report is lost: %q", o.Output)
				}
			})
		}
	}
}

// quick shortens the timeout for the case that waits it out.
func quick(name string) func(*catalog.Tool) {
	return func(b *catalog.Tool) {
		if name == "no answer in time" {
			b.Timeout = 50 * time.Millisecond
		}
	}
}

func TestTypedDecodeFailureIsProvedAndTheHandlerNeverRan(t *testing.T) {
	t.Parallel()
	type args struct {
		Amount int8 `json:"amount"`
	}
	ran := false
	bound, err := verbatim.Tool(ordinary("typed", `{"type":"object","properties":{"amount":{"type":"integer"},"AMOUNT2":{"type":"integer"}}}`),
		func(context.Context, args) (string, error) { ran = true; return "x", nil })
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, parts{more: []verbatim.Bound{bound}})
	for _, raw := range []string{`{"amount":300}`, `{"amount":1,"AMOUNT2":1}`} {
		o := s.with(verbatim.Call{Tool: "typed", Arguments: []byte(raw)})
		want(t, o, verbatim.StatusFailed, verbatim.CodeToolNotRun)
		if o.Evidence != action.EvidenceProved || ran {
			t.Errorf("%s: evidence %q, ran %v", raw, o.Evidence, ran)
		}
	}
	want(t, s.with(verbatim.Call{Tool: "typed", Arguments: []byte(`{"amount":3}`)}), verbatim.StatusOK, verbatim.CodeOK)
}

func TestResultWithoutJSONIsUncertainBecauseTheToolRan(t *testing.T) {
	t.Parallel()
	bound, err := verbatim.Tool(ordinary("typed", noteSchema), func(context.Context, struct {
		Text   string `json:"text"`
		Amount int    `json:"amount"`
	}) (chan int, error) {
		return make(chan int), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, parts{more: []verbatim.Bound{bound}})
	want(t, s.with(verbatim.Call{Tool: "typed", Arguments: []byte(`{"text":"a","amount":1}`)}), verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
}

func TestLateSuccessSettlesUncertain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		out   execute.Output
		err   error
		state action.State
	}{
		"a success":     {execute.Output{Bytes: []byte(`{"late":true}`)}, nil, action.ReconciledSucceeded},
		"an error":      {execute.Output{}, errors.New("no"), action.Uncertain},
		"proof of none": {execute.Output{}, execute.ErrNotRun, action.Uncertain},
		"isError":       {execute.Output{Bytes: []byte(`{}`), IsError: true}, nil, action.Uncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			s := newStage(t, parts{tool: func(b *catalog.Tool) { b.Timeout = 20 * time.Millisecond }})
			s.probe.set(func(context.Context, execute.Input) (execute.Output, error) {
				<-release
				return tc.out, tc.err
			})
			c := verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"}
			o := s.with(c)
			want(t, o, verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
			finished := s.store.count("Finish")
			close(release)
			if tc.state == action.Uncertain {
				s.state(o.ActionID, action.Uncertain)
				return
			}
			s.eventually("the late answer is stored", func() bool {
				a, err := s.Store.Action(t.Context(), "acme", o.ActionID)
				return err == nil && a.State == tc.state && s.store.count("Finish") > finished
			})
			replay := s.with(c)
			want(t, replay, verbatim.StatusOK, verbatim.CodeOK)
			if string(replay.Output) != `{"late":true}` {
				t.Errorf("output %s", replay.Output)
			}
			wantEvents := []string{audit.ActionStarted, audit.ActionUncertain, audit.ActionSettled}
			if diff := cmp.Diff(wantEvents, s.events()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUncertainBlocksTheSameFingerprintUnlessSuperseded(t *testing.T) {
	t.Parallel()
	for name, effect := range map[string]policy.Effect{"allowed": policy.Allow, "approved": policy.RequireApproval} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, parts{policy: decide(effect)})
			s.probe.set(failing(execute.ErrLost))
			first := s.call(`{"text":"a"}`)
			if effect == policy.RequireApproval {
				s.Approve(first.ActionID, "ada")
				first = s.call(`{"text":"a"}`)
			}
			want(t, first, verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
			s.probe.set(nil)
			for _, c := range []verbatim.Call{{}, {IdempotencyKey: "new"}, {Supersedes: "act_other"}} {
				c.Arguments = []byte(`{"text":"a"}`)
				blocked := s.with(c)
				want(t, blocked, verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
				if blocked.ActionID != first.ActionID {
					t.Errorf("the answer is about %s", blocked.ActionID)
				}
			}
			s.runs(1)
			next := s.with(verbatim.Call{Arguments: []byte(`{"text":"a"}`), Supersedes: first.ActionID})
			if effect == policy.RequireApproval {
				want(t, next, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
				s.Approve(next.ActionID, "ada")
				next = s.with(verbatim.Call{Arguments: []byte(`{"text":"a"}`), Approval: next.ActionID})
			}
			want(t, next, verbatim.StatusOK, verbatim.CodeOK)
			s.runs(2)
			if a := s.state(next.ActionID, action.Succeeded); a.Supersedes != first.ActionID {
				t.Errorf("supersedes %q", a.Supersedes)
			}
		})
	}
}

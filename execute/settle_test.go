package execute_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/permit"
)

// asked is a provider that answers every question with one function.
type asked func(context.Context, execute.Input) (execute.Finding, error)

func (a asked) Lookup(ctx context.Context, in execute.Input) (execute.Finding, error) {
	return a(ctx, in)
}
func (a asked) Cancel(ctx context.Context, in execute.Input) (execute.Finding, error) {
	return a(ctx, in)
}

func question(args string) permit.Permit {
	return permit.Issue(permit.Question, "act_1", 2, "key", args)
}

func TestOnlyWhatAProviderIsSureOfCounts(t *testing.T) {
	t.Parallel()
	out := execute.Output{Bytes: []byte(`{"n":1}`)}
	large := execute.Output{Bytes: make([]byte, execute.MaxOutput+1)}
	for _, tc := range []struct {
		name           string
		says           execute.Finding
		err            error
		lookup, cancel execute.Finding
	}{
		{"nothing", execute.Finding{}, nil, execute.Finding{}, execute.Finding{}},
		{"yes", execute.Finding{Verdict: execute.Happened, Output: out}, nil,
			execute.Finding{Verdict: execute.Happened, Output: out}, execute.Finding{Verdict: execute.Happened, Output: out}},
		{"never", execute.Finding{Verdict: execute.Prevented, Output: out}, nil,
			execute.Finding{}, execute.Finding{Verdict: execute.Prevented}},
		{"yes, beside an error", execute.Finding{Verdict: execute.Happened}, errors.New("x"), execute.Finding{}, execute.Finding{}},
		{"never, beside an error", execute.Finding{Verdict: execute.Prevented}, errors.New("x"), execute.Finding{}, execute.Finding{}},
		{"a verdict that does not exist", execute.Finding{Verdict: 9}, nil, execute.Finding{}, execute.Finding{}},
		{"yes, and it failed", execute.Finding{Verdict: execute.Happened, Output: execute.Output{IsError: true}}, nil,
			execute.Finding{}, execute.Finding{}},
		{"yes, too large to keep", execute.Finding{Verdict: execute.Happened, Output: large}, nil,
			execute.Finding{Verdict: execute.Happened}, execute.Finding{Verdict: execute.Happened}},
	} {
		h := asked(func(_ context.Context, in execute.Input) (execute.Finding, error) {
			if in.ProviderKey() != "key" || in.ActionID() != "act_1" || string(in.JSON()) != `{"a":1}` {
				t.Errorf("asked about %s", in.ActionID())
			}
			return tc.says, tc.err
		})
		lookup, _ := execute.Lookup(t.Context(), question(`{"a":1}`), h, time.Minute)
		cancel, _ := execute.Cancel(t.Context(), question(`{"a":1}`), h, time.Minute)
		if diff := cmp.Diff([]execute.Finding{tc.lookup, tc.cancel}, []execute.Finding{lookup, cancel}); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

func TestQuestionThatGoesWrongSaysNothing(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	for name, h := range map[string]asked{
		"a panic": func(context.Context, execute.Input) (execute.Finding, error) { panic("secret") },
		"a goroutine that ends": func(context.Context, execute.Input) (execute.Finding, error) {
			runtime.Goexit()
			return execute.Finding{}, nil
		},
		"no end": func(context.Context, execute.Input) (execute.Finding, error) {
			<-release
			return execute.Finding{Verdict: execute.Happened}, nil
		},
	} {
		f, err := execute.Lookup(t.Context(), question(`{}`), h, 10*time.Millisecond)
		if err == nil || f.Verdict != execute.Unsaid {
			t.Errorf("%s: %+v %v", name, f, err)
		}
	}
}

func TestRightToAskAndRightToRunAreNotEachOther(t *testing.T) {
	t.Parallel()
	h := asked(func(context.Context, execute.Input) (execute.Finding, error) {
		t.Error("it was asked")
		return execute.Finding{}, nil
	})
	for name, p := range map[string]permit.Permit{
		"none": {}, "to run": permit.Issue(permit.Mutation, "a", 1, "k", `{}`), "to read": permit.Issue(permit.Read, "a", 1, "k", `{}`),
		"to preview": permit.Issue(permit.Preview, "a", 1, "k", `{}`), "bytes not canonical": question(`{ }`),
	} {
		if _, err := execute.Lookup(t.Context(), p, h, time.Minute); !errors.Is(err, execute.ErrPermit) {
			t.Errorf("look-up with the right %s: %v", name, err)
		}
		if _, err := execute.Cancel(t.Context(), p, h, time.Minute); !errors.Is(err, execute.ErrPermit) {
			t.Errorf("cancellation with the right %s: %v", name, err)
		}
	}
	run := handler(func(context.Context, execute.Input) (execute.Output, error) {
		t.Error("it ran")
		return execute.Output{}, nil
	})
	if _, err := execute.Run(t.Context(), question(`{}`), run, execute.Options{Timeout: time.Minute}); !errors.Is(err, execute.ErrPermit) {
		t.Errorf("a run with the right to ask: %v", err)
	}
}

func TestToolIsNotCalledOnceItsTimeToBeginIsOver(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Time{
		"by the steady clock": time.Now().Add(-time.Second),
		"by the wall's clock": time.Now().Add(-time.Second).Round(0),
	} {
		end, err := execute.Run(t.Context(), permit.Issue(permit.Mutation, "a", 1, "", `{}`),
			handler(func(context.Context, execute.Input) (execute.Output, error) {
				t.Errorf("%s: it ran", name)
				return execute.Output{}, nil
			}), execute.Options{Timeout: time.Minute, SendBy: by})
		if err != nil || end.State != action.Failed || end.Result.Evidence != action.EvidenceProved {
			t.Errorf("%s: %+v %v", name, end, err)
		}
	}
}

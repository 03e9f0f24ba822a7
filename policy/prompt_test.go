package policy_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/policy"
)

// prompt is an engine that answers at once where answer is not nil.
type prompt struct {
	policy.Engine
	answer func(in policy.Input) (policy.Decision, bool)
}

func (p prompt) Answer(in policy.Input) (policy.Decision, bool) { return p.answer(in) }

func answering(d policy.Decision) prompt {
	return prompt{engine(returning(policy.Decision{Reason: "Decide was asked"})),
		func(policy.Input) (policy.Decision, bool) { return d, true }}
}

func TestPromptAnswerIsTakenAsTheEngines(t *testing.T) {
	t.Parallel()
	rules := []string{"r1"}
	d := policy.Evaluate(t.Context(), answering(policy.Decision{Effect: policy.Allow, Reason: "fine", Rules: rules}), input(t), 0)
	rules[0] = "changed"
	want := policy.Decision{Effect: policy.Allow, Reason: "fine", PolicyVersion: "v1", Rules: []string{"r1"}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}

func TestEngineWithoutPromptAnswerIsAskedAsAlways(t *testing.T) {
	t.Parallel()
	p := answering(policy.Decision{})
	p.answer = func(policy.Input) (policy.Decision, bool) {
		return policy.Decision{Effect: policy.Allow, Reason: "must not count"}, false
	}
	if d := policy.Evaluate(t.Context(), p, input(t), 0); d.Effect != policy.Deny || d.Reason != "Decide was asked" {
		t.Errorf("got %+v", d)
	}
}

func TestPromptAnswerThatGoesWrongDenies(t *testing.T) {
	t.Parallel()
	fine := policy.Decision{Effect: policy.Allow, Reason: "fine"}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		answer func(in policy.Input) (policy.Decision, bool)
		code   string
	}{
		"panic": {t.Context(), func(in policy.Input) (policy.Decision, bool) { panic(in.View()["amount"]) }, "policy_error"},
		"changed view": {t.Context(), func(in policy.Input) (policy.Decision, bool) {
			in.View()["amount"] = int64(1)
			return fine, true
		}, "policy_mutated_arguments"},
		"no reason": {t.Context(), func(policy.Input) (policy.Decision, bool) {
			return policy.Decision{Effect: policy.Allow}, true
		}, "invalid_policy_result"},
		"caller that has gone": {cancelled, func(policy.Input) (policy.Decision, bool) { return fine, true }, "policy_error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := answering(fine)
			p.answer = c.answer
			d := policy.Evaluate(c.ctx, p, input(t), 0)
			if d.Effect != policy.Deny || d.Code != c.code || d.Reason == "500" {
				t.Errorf("got %v %q (%s)", d.Effect, d.Code, d.Reason)
			}
		})
	}
}

func TestPromptAnswerThatIsSlowDenies(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(ctx context.Context) (context.Context, context.CancelFunc){
		"longer than the timeout": func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} },
		"longer than the caller waits": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 5*time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := answering(policy.Decision{})
				p.answer = func(policy.Input) (policy.Decision, bool) {
					time.Sleep(11 * time.Millisecond)
					return policy.Decision{Effect: policy.Allow, Reason: "late"}, true
				}
				ctx, cancel := change(t.Context())
				defer cancel()
				d := policy.Evaluate(ctx, p, input(t), policy.MinTimeout)
				if d.Effect != policy.Deny || d.Code != "policy_timeout" {
					t.Errorf("got %v %q", d.Effect, d.Code)
				}
			})
		})
	}
}

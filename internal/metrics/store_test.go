package metrics_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/metrics"
)

// answers is a store that answers as a test says.
type answers struct {
	verbatim.Store
	row action.Action
	err error
}

func (s answers) Vote(context.Context, action.Vote) (action.Action, error) { return s.row, s.err }
func (s answers) Expire(context.Context, bool) ([]action.Action, error) {
	return []action.Action{s.row, s.row}, s.err
}
func (s answers) Dismiss(context.Context, string, string) (action.Action, error) {
	return s.row, s.err
}

func waiting(state action.State) action.Action {
	asked := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return action.Action{State: state, UpdatedAt: asked.Add(90 * time.Second), Terms: &action.Terms{RequestedAt: asked}}
}

func TestWaitForPeopleIsMeasuredWhereItEnds(t *testing.T) {
	t.Parallel()
	r := metrics.New()
	store := &answers{}
	timed := metrics.Timed(r, store)
	for _, step := range []struct {
		row action.Action
		err error
		do  func() error
	}{
		{waiting(action.PendingApproval), nil, func() error { _, err := timed.Vote(t.Context(), action.Vote{}); return err }},
		{waiting(action.Approved), nil, func() error { _, err := timed.Vote(t.Context(), action.Vote{}); return err }},
		{waiting(action.Denied), nil, func() error { _, err := timed.Vote(t.Context(), action.Vote{}); return err }},
		{waiting(action.Approved), action.ErrVoted, func() error { _, err := timed.Vote(t.Context(), action.Vote{}); return err }},
		{waiting(action.Expired), nil, func() error { _, err := timed.Expire(t.Context(), false); return err }},
		{action.Action{State: action.Uncertain}, nil, func() error { _, err := timed.Expire(t.Context(), false); return err }},
		{waiting(action.Revoked), nil, func() error { _, err := timed.Dismiss(t.Context(), "", ""); return err }},
	} {
		store.row, store.err = step.row, step.err
		if err := step.do(); !errors.Is(err, step.err) {
			t.Fatal(err)
		}
	}
	page := text(t, r)
	for _, want := range []string{`verbatim_approval_wait_seconds_count{result="approved"} 1`, `verbatim_approval_wait_seconds_sum{result="approved"} 90`,
		`verbatim_approval_wait_seconds_count{result="rejected"} 1`, `verbatim_approval_wait_seconds_count{result="expired"} 2`, `verbatim_approval_wait_seconds_count{result="withdrawn"} 1`,
		`verbatim_store_seconds_count{verb="vote"} 4`} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("%s is not in\n%s", want, page)
		}
	}
	if strings.Contains(page, `verbatim_store_failures_total{verb="vote"}`) {
		t.Error("a refusal counts as a failure")
	}
	store.err = errors.New("disk full")
	if _, err := timed.Vote(t.Context(), action.Vote{}); err == nil {
		t.Fatal("taken")
	}
	if !strings.Contains(text(t, r), `verbatim_store_failures_total{verb="vote"} 1`) {
		t.Error("a failure does not count")
	}
}

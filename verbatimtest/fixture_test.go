package verbatimtest_test

import (
	"context"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

func TestSecondFixtureOnADirectoryStandsForARestart(t *testing.T) {
	t.Parallel()
	pay, err := verbatim.Untyped(catalog.Spec{Name: "pay", Schema: []byte(`{"type":"object"}`), Impact: catalog.Financial},
		execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: []byte(`{}`)}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	cfg := verbatimtest.Config{Dir: t.TempDir(), Tools: []verbatim.Bound{pay},
		Policy: policy.FromFunc("v1", func(context.Context, policy.Input) (policy.Decision, error) {
			return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
		})}
	f := verbatimtest.New(t, cfg)
	call := verbatim.Call{Tool: "pay", Arguments: []byte(`{}`)}
	o, err := f.Gate.Call(t.Context(), f.Session(), call)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Store.Close(); err != nil {
		t.Fatal(err)
	}

	f = verbatimtest.New(t, cfg)
	if a := f.Approve(o.ActionID, "ada"); a.State != action.Approved {
		t.Errorf("state %s", a.State)
	}
	if _, err := f.Vote(o.ActionID, "bob", true); err == nil {
		t.Error("a vote on what is approved was taken")
	}
	if got, err := f.Gate.Call(t.Context(), f.Session(), call); err != nil || got.ActionID != o.ActionID || got.Status != verbatim.StatusOK {
		t.Errorf("got %s %v", got.Code, err)
	}
	f.Clock.Advance(time.Hour)
	if !f.Clock.Now().Equal(verbatimtest.Start.Add(time.Hour)) {
		t.Error("the clock did not move")
	}
}

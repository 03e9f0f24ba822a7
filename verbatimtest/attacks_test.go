package verbatimtest_test

import (
	"context"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

type transfer struct {
	To     string `json:"to"`
	Amount int64  `json:"amount"`
}

func TestEveryAttackOnAToolIsRefusedBeforePolicy(t *testing.T) {
	t.Parallel()
	ran := 0
	tool, err := verbatim.Tool(catalog.Spec{Name: "transfer", Impact: catalog.Ordinary, Reason: "play money"},
		func(context.Context, transfer) (bool, error) { ran++; return true, nil })
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	f := verbatimtest.New(t, verbatimtest.Config{Tools: []verbatim.Bound{tool},
		Policy: policy.FromFunc("1", func(context.Context, policy.Input) (policy.Decision, error) {
			asked++
			return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
		})})
	const valid = `{"to":"ada","amount":5}`
	verbatimtest.RefuseAttacks(t, f, "transfer", valid)
	if ran != 0 || asked != 0 {
		t.Errorf("ran %d times, policy was asked %d times", ran, asked)
	}
	o, err := f.Gate.Call(t.Context(), f.Session(), verbatim.Call{Tool: "transfer", Arguments: []byte(valid)})
	if err != nil || o.Status != verbatim.StatusOK || ran != 1 {
		t.Errorf("the valid call: %s %s, %v, ran %d times", o.Status, o.Code, err, ran)
	}
}

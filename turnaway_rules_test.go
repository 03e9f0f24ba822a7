package verbatim_test

import (
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/policy"
)

// A call that leans on an action that it is not is an attack or a mistake;
// either way somebody will want to find it.
func TestACallThatLeansOnAnotherActionIsRecordedAndLeavesItAlone(t *testing.T) {
	t.Parallel()
	const other = `{"to":"Vendor A","amount":9,"unit":"thousand","currency":"USD"}`
	for name, tc := range map[string]struct {
		second func(id string) verbatim.Call
		code   verbatim.Code
	}{
		"an approval for other arguments": {func(id string) verbatim.Call {
			return verbatim.Call{Arguments: []byte(other), Approval: id}
		}, verbatim.CodeApprovalMismatch},
		"an approval that does not exist": {func(string) verbatim.Call {
			return verbatim.Call{Arguments: []byte(pay), Approval: "act_none"}
		}, verbatim.CodeApprovalUnknown},
		"the key of another request": {func(string) verbatim.Call {
			return verbatim.Call{Arguments: []byte(other), IdempotencyKey: "k"}
		}, verbatim.CodeIdempotencyMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, decide(policy.RequireApproval))
			first := w.call(t, verbatim.Call{Arguments: []byte(pay), IdempotencyKey: "k"})
			want(t, w.call(t, tc.second(first.ActionID)), verbatim.StatusDenied, tc.code)
			records, err := w.Gate.Records(t.Context(), audit.Filter{Tenant: "acme", Event: audit.ActionDenied})
			if err != nil || len(records) != 1 || records[0].Code != string(tc.code) {
				t.Errorf("records: %+v, %v", records, err)
			}
			a, err := w.Gate.Action(t.Context(), "acme", first.ActionID)
			if err != nil || a.State != action.PendingApproval {
				t.Errorf("the first action is %s, %v", a.State, err)
			}
		})
	}
}

func TestACallerWhoIsNotKnownRunsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, decide(policy.Allow))
	o, err := w.Gate.Call(t.Context(), verbatim.Session{Tenant: "acme"}, verbatim.Call{Tool: "transfer", Arguments: []byte(pay)})
	if err != nil || o.Status != verbatim.StatusDenied || o.Code != verbatim.CodeInvalidSession {
		t.Errorf("got %s %s, %v", o.Status, o.Code, err)
	}
}

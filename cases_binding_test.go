package verbatim_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/policy"
)

func asks(t *testing.T) *stage {
	t.Helper()
	return newStage(t, parts{policy: decide(policy.RequireApproval)})
}

func TestB01ProviderCallIDIsNoKey(t *testing.T) {
	t.Parallel()
	s := asks(t)
	o := s.approved(verbatim.Call{Arguments: []byte(`{"text":"a@example.test"}`), CallID: "call_1"})
	second := s.with(verbatim.Call{Arguments: []byte(`{"text":"b@example.test"}`), CallID: "call_1"})
	want(t, second, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	want(t, s.with(verbatim.Call{Arguments: []byte(`{"text":"b@example.test"}`), CallID: "call_1", Approval: o.ActionID}),
		verbatim.StatusDenied, verbatim.CodeApprovalMismatch)
	c := verbatim.Call{Arguments: []byte(`{"text":"a@example.test"}`), CallID: "call_1", Approval: o.ActionID}
	want(t, s.with(c), verbatim.StatusOK, verbatim.CodeOK)
	if replay := s.with(c); !replay.Replayed {
		t.Error("an identical repetition was not replayed")
	}
	s.runs(1)
}

func TestB02B03ReusedProviderIDsAreSeparateProposals(t *testing.T) {
	t.Parallel()
	s := asks(t)
	first := s.with(verbatim.Call{Arguments: []byte(`{"amount":100}`), CallID: "0", Turn: 1})
	s.Approve(first.ActionID, "ada")
	second := s.with(verbatim.Call{Arguments: []byte(`{"amount":999900}`), CallID: "0", Turn: 2})
	want(t, second, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	if second.ActionID == first.ActionID {
		t.Error("two calls have one id")
	}
	if a := s.state(second.ActionID, action.PendingApproval); a.CallID != "0" {
		t.Errorf("the provider's label is %q", a.CallID)
	}
	s.runs(0)
}

func TestB05B10AnswerNamesOneActionAndItsDigest(t *testing.T) {
	t.Parallel()
	s := asks(t)
	read, drop := s.call(`{"text":"read a"}`), s.call(`{"text":"delete b"}`)
	a := s.state(read.ActionID, action.PendingApproval)
	for name, v := range map[string]action.Vote{
		"of another action": {ActionID: drop.ActionID, Digest: a.Terms.Digest},
		"of none":           {ActionID: "act_of_an_earlier_request", Digest: a.Terms.Digest},
		"without a digest":  {ActionID: drop.ActionID},
		"without an id":     {Digest: a.Terms.Digest},
	} {
		v.Voter, v.Approve, v.Nonce, v.Method = "ada", true, "n", "password"
		if _, err := s.Gate.Vote(t.Context(), s.Sign(v)); !errors.Is(err, action.ErrDigest) && !errors.Is(err, action.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.state(read.ActionID, action.PendingApproval)
	s.state(drop.ActionID, action.PendingApproval)
}

func TestB07ApprovalHasNoReuseWindow(t *testing.T) {
	t.Parallel()
	s := asks(t)
	c := verbatim.Call{Arguments: []byte(`{"amount":5000}`), IdempotencyKey: "k1"}
	s.approved(c)
	want(t, s.with(c), verbatim.StatusOK, verbatim.CodeOK)
	s.Clock.Advance(20 * time.Second)
	if o := s.with(c); !o.Replayed {
		t.Errorf("the same key: %+v", o)
	}
	c.IdempotencyKey = "k2"
	want(t, s.with(c), verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	s.runs(1)
}

func TestB08EachCallOfABatchIsDecidedOnItsOwn(t *testing.T) {
	t.Parallel()
	s := asks(t)
	table, insert := s.call(`{"text":"create table t(id int)"}`), s.call(`{"text":"insert into t values (1)"}`)
	s.Reject(table.ActionID, "ada")
	s.Approve(insert.ActionID, "ada")
	want(t, s.with(verbatim.Call{Arguments: []byte(`{"text":"create table t(id int)"}`), Approval: table.ActionID}), verbatim.StatusDenied, verbatim.CodeRejected)
	want(t, s.call(`{"text":"insert into t values (1)"}`), verbatim.StatusOK, verbatim.CodeOK)
	s.runs(1)
}

func TestB14B17NoWayInWithoutAStoredApproval(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{spec: financial("send", noteSchema)})
	pending := s.call(`{"amount":9000000}`)
	for _, id := range []string{"a1", "act_made_up", pending.ActionID} {
		c := verbatim.Call{Tool: "send", Arguments: []byte(`{"amount":9000000}`), Approval: id, RunContext: map[string]bool{"approved": true}}
		for name, gate := range map[string]*verbatim.Gate{"gate": s.Gate, "with": s.Gate.With(verbatim.Toolset{"send": s.bound})} {
			o, err := gate.Call(t.Context(), s.Session(), c)
			if err != nil || o.Status != verbatim.StatusDenied && o.Status != verbatim.StatusApprovalRequired {
				t.Errorf("%s with %s: %s %v", name, id, o.Code, err)
			}
		}
	}
	if _, err := s.Gate.Explain(t.Context(), s.Session(), verbatim.Call{Tool: "send", Arguments: []byte(`{"amount":9000000}`)}); err != nil {
		t.Error(err)
	}
	s.runs(0)
}

func TestB15WithoutAVerifierNothingThatNeedsApprovalRuns(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval), gate: func(c *verbatim.Config) { c.Votes = nil }})
	o := s.call(`{}`)
	a := s.state(o.ActionID, action.PendingApproval)
	vote := s.Sign(action.Vote{ActionID: o.ActionID, Voter: "ada", Approve: true, Digest: a.Terms.Digest, Nonce: "n", Method: "password"})
	if _, err := s.Gate.Vote(t.Context(), vote); err == nil {
		t.Error("a vote that nobody can check was taken")
	}
	if _, err := s.Store.Vote(t.Context(), vote); err != nil { // by a way around the gate
		t.Fatal(err)
	}
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID}), verbatim.StatusDenied, verbatim.CodeApprovalUnverified)
	s.runs(0)
}

func TestB18ApprovalDoesNotMoveToAnotherTool(t *testing.T) {
	t.Parallel()
	drop := &probe{}
	s := newStage(t, parts{policy: decide(policy.RequireApproval), more: []verbatim.Bound{bind(t, financial("delete_account", noteSchema), drop)}})
	o := s.approved(verbatim.Call{Arguments: []byte(`{"text":"x"}`)})
	want(t, s.with(verbatim.Call{Tool: "delete_account", Arguments: []byte(`{"text":"x"}`), Approval: o.ActionID}),
		verbatim.StatusDenied, verbatim.CodeApprovalUnknown)
	want(t, s.with(verbatim.Call{Tool: "delete_account", Arguments: []byte(`{"text":"x"}`)}), verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	if len(drop.ran()) != 0 {
		t.Error("it ran")
	}
}

func TestB19B20RejectedActionCannotBeStartedAnywhere(t *testing.T) {
	t.Parallel()
	s := asks(t)
	o := s.call(`{}`)
	s.Reject(o.ActionID, "ada")
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID}), verbatim.StatusDenied, verbatim.CodeRejected)
	if _, err := s.Store.Claim(t.Context(), o.ActionID, time.Minute); !errors.Is(err, action.ErrState) {
		t.Errorf("claim: %v", err)
	}
	row := s.state(o.ActionID, action.Denied)
	row.Fence = 1
	if _, err := s.Store.Begin(t.Context(), action.Start{Action: row, Lease: time.Minute}); !errors.Is(err, action.ErrState) {
		t.Errorf("begin: %v", err)
	}
	s.runs(0)
}

func TestB21UsedApprovalDoesNotServeTheOriginalCall(t *testing.T) {
	t.Parallel()
	s := asks(t)
	edited := s.approved(verbatim.Call{Arguments: []byte(`{"text":"b@example.test"}`)})
	want(t, s.call(`{"text":"b@example.test"}`), verbatim.StatusOK, verbatim.CodeOK)
	again := s.call(`{"text":"a@example.test"}`)
	want(t, again, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	want(t, s.with(verbatim.Call{Arguments: []byte(`{"text":"a@example.test"}`), Approval: edited.ActionID}), verbatim.StatusDenied, verbatim.CodeApprovalMismatch)
	s.runs(1)
}

func TestB27OneClickRunsOneOfTwoIdenticalCalls(t *testing.T) {
	t.Parallel()
	s := asks(t)
	waiting := make(chan verbatim.Outcome, 2)
	c := verbatim.Call{Arguments: []byte(`{"text":"b1"}`), Wait: time.Minute, Suspended: func(o verbatim.Outcome) { waiting <- o }}
	first, second := s.begin(t.Context(), c), s.begin(t.Context(), c)
	a, b := <-waiting, <-waiting
	if a.ActionID == b.ActionID {
		t.Fatal("two live calls share one approval")
	}
	s.Approve(a.ActionID, "ada")
	var done verbatim.Outcome
	select {
	case done = <-first:
	case done = <-second:
	}
	want(t, done, verbatim.StatusOK, verbatim.CodeOK)
	s.state(b.ActionID, action.PendingApproval)
	s.runs(1)
	s.Reject(b.ActionID, "ada")
	select {
	case done = <-first:
	case done = <-second:
	}
	want(t, done, verbatim.StatusDenied, verbatim.CodeRejected)
}

func TestB30B31SilenceIsADenialAndTheRecordSaysSo(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: needing(policy.Approval{PendingTTL: 30 * time.Second})})
	o := s.call(`{}`)
	s.Clock.Advance(30 * time.Second)
	sweep(s)
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID}), verbatim.StatusDenied, verbatim.CodeExpired)
	rs, err := s.Gate.Records(t.Context(), audit.Filter{Tenant: "acme", Action: o.ActionID, Event: audit.ActionExpired})
	if err != nil || len(rs) != 1 || rs[0].By != "sweeper" || rs[0].Code != "expired" {
		t.Errorf("records %+v, %v", rs, err)
	}
	s.runs(0)
}

func TestB32WaitOfOneCallerIsNoVerdict(t *testing.T) {
	t.Parallel()
	s := asks(t)
	o := s.with(verbatim.Call{Arguments: []byte(`{}`), Wait: time.Millisecond})
	want(t, o, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	s.Clock.Advance(15 * time.Minute)
	s.Approve(o.ActionID, "ada")
	want(t, s.call(`{}`), verbatim.StatusOK, verbatim.CodeOK)
}

func TestB33EachStateHasItsOwnSentence(t *testing.T) {
	t.Parallel()
	sentences := map[string]verbatim.Code{}
	for _, c := range []verbatim.Code{verbatim.CodeApprovalRequired, verbatim.CodeExpired, verbatim.CodeRejected, verbatim.CodeRevoked,
		verbatim.CodeOutcomeUncertain, verbatim.CodeInProgress, verbatim.CodeApprovalConsumed} {
		text := verbatim.Outcome{Code: c}.Sentence()
		if other, twice := sentences[text]; twice || text == "" {
			t.Errorf("%s and %s have one sentence", c, other)
		}
		sentences[text] = c
		ended := c == verbatim.CodeExpired || c == verbatim.CodeRejected || c == verbatim.CodeRevoked
		if ended != strings.Contains(text, "It did not run.") {
			t.Errorf("%s: %s", c, text)
		}
	}
}

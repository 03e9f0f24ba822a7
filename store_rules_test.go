package verbatim_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
)

// TestStoreThatFailsRefuses makes each verb fail in turn: nothing runs, no
// answer is given, and afterwards the same call goes through.
func TestStoreThatFailsRefuses(t *testing.T) {
	t.Parallel()
	read := parts{spec: reading("look", noteSchema)}
	approvedCall := parts{policy: decide(policy.RequireApproval)}
	for _, tc := range []struct {
		verb    string
		p       parts
		raw     string
		key     string
		approve bool // first have it approved, with a store that works
		after   verbatim.Code
	}{
		{verb: "Now", raw: `{}`, after: verbatim.CodeOK},
		{verb: "RejectInput", raw: `[]`, after: verbatim.CodeInvalidArguments},
		{verb: "Joinable", raw: `{}`, after: verbatim.CodeOK},
		{verb: "ByKey", raw: `{}`, key: "k", after: verbatim.CodeOK},
		{verb: "SetPolicy", raw: `{}`, after: verbatim.CodeOK},
		{verb: "Begin", raw: `{}`, after: verbatim.CodeOK},
		{verb: "Begin", raw: `{}`, key: "k", after: verbatim.CodeOK},
		{verb: "Decide", p: read, raw: `{}`, after: verbatim.CodeOK},
		{verb: "Decide", p: parts{policy: decide(policy.Deny)}, raw: `{}`, after: verbatim.CodePolicyDenied},
		{verb: "Suspend", p: approvedCall, raw: `{}`, after: verbatim.CodeApprovalRequired},
		{verb: "Votes", p: approvedCall, raw: `{}`, approve: true, after: verbatim.CodeOK},
		{verb: "Claim", p: approvedCall, raw: `{}`, approve: true, after: verbatim.CodeOK},
	} {
		t.Run(tc.verb+" of "+tc.p.spec.Name+tc.key, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, tc.p)
			c := verbatim.Call{Tool: s.name, Arguments: []byte(tc.raw), IdempotencyKey: tc.key}
			if tc.approve {
				s.approved(c)
			}
			s.store.fail(tc.verb)
			o, err := s.Gate.Call(t.Context(), s.Session(), c)
			if !errors.Is(err, verbatim.ErrRecord) || !errors.Is(err, errDisk) || o.Code != verbatim.CodeRecordFailed || o.Output != nil {
				t.Fatalf("got %s %v", o.Code, err)
			}
			if tc.p.spec.Name != "look" { // a read runs beside its record; nobody gets its answer
				s.runs(0)
			}
			s.store.on(tc.verb, nil)
			if got := s.with(c); got.Code != tc.after {
				t.Errorf("afterwards: %s, want %s", got.Code, tc.after)
			}
		})
	}
}

func TestApprovalOutlivesAStoreThatFailedAtTheCommitPoint(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	s.store.fail("Begin")
	c := verbatim.Call{Tool: s.name, Arguments: []byte(`{}`), Approval: o.ActionID}
	if _, err := s.Gate.Call(t.Context(), s.Session(), c); !errors.Is(err, verbatim.ErrRecord) {
		t.Fatal(err)
	}
	s.runs(0)
	s.store.on("Begin", nil)
	s.state(o.ActionID, action.Claimed)
	want(t, s.with(c), verbatim.StatusInProgress, verbatim.CodeInProgress)
	s.Clock.Advance(31e9) // the claim's lease
	want(t, s.with(c), verbatim.StatusOK, verbatim.CodeOK)
	s.runs(1)
}

func TestVotesThatCannotBeReadForTheCheckRunNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	read := 0
	s.store.on("Votes", func() error {
		if read++; read > 1 { // policy was given them as evidence
			return errDisk
		}
		return nil
	})
	c := verbatim.Call{Tool: s.name, Arguments: []byte(`{}`), Approval: o.ActionID}
	if _, err := s.Gate.Call(t.Context(), s.Session(), c); !errors.Is(err, verbatim.ErrRecord) {
		t.Fatal(err)
	}
	s.runs(0)
	s.state(o.ActionID, action.Approved)
	s.store.on("Votes", nil)
	want(t, s.with(c), verbatim.StatusOK, verbatim.CodeOK)
}

func TestRulesThatCannotBeRegisteredVoidNothing(t *testing.T) {
	t.Parallel()
	l := newLive(asking("v1"))
	s := newStage(t, parts{policy: l})
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	l.replace(asking("v2"))
	s.store.fail("SetPolicy")
	c := verbatim.Call{Tool: s.name, Arguments: []byte(`{}`), Approval: o.ActionID}
	for _, approval := range []string{o.ActionID, ""} {
		c.Approval = approval
		if _, err := s.Gate.Call(t.Context(), s.Session(), c); !errors.Is(err, verbatim.ErrRecord) {
			t.Fatal(err)
		}
	}
	s.runs(0)
	s.state(o.ActionID, action.Approved)
}

func TestOutcomeThatCannotBeRecordedIsUncertain(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{})
	s.store.fail("Finish")
	o := s.with(verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"})
	want(t, o, verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	if o.Output != nil {
		t.Error("an answer that is not in the record was given")
	}
	s.runs(1)
	s.store.on("Finish", nil)
	s.state(o.ActionID, action.Executing)
	s.Clock.Advance(2 * 60e9) // timeout and slack
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"}), verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	s.state(o.ActionID, action.Uncertain)
	s.runs(1)
}

func TestNoteThatCannotBeWrittenChangesNoAnswer(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	s.store.fail("Leave")
	o := s.call(`{}`)
	want(t, o, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	s.state(o.ActionID, action.PendingApproval)
}

func TestRestartAfterTheCommitPointIsUncertain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newStage(t, parts{dir: dir})
	s.store.fail("Finish")
	o := s.call(`{}`)
	if err := s.Store.Close(); err != nil {
		t.Fatal(err)
	}
	next := newStage(t, parts{dir: dir})
	if n, err := next.Gate.Sweep(t.Context(), true); err != nil || n != 1 {
		t.Errorf("%d rows swept, %v", n, err)
	}
	next.state(o.ActionID, action.Uncertain)
	want(t, next.call(`{}`), verbatim.StatusUncertain, verbatim.CodeOutcomeUncertain)
	next.runs(0)
}

func TestRestartKeepsApprovalsAndFreesClaims(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newStage(t, parts{dir: dir, policy: decide(policy.RequireApproval)})
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	if _, err := s.Store.Claim(t.Context(), o.ActionID, 30e9); err != nil {
		t.Fatal(err)
	}
	if err := s.Store.Close(); err != nil {
		t.Fatal(err)
	}
	next := newStage(t, parts{dir: dir, policy: decide(policy.RequireApproval)})
	if _, err := next.Gate.Sweep(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	next.Clock.Advance(1e9)
	got := next.call(`{}`)
	want(t, got, verbatim.StatusOK, verbatim.CodeOK)
	if got.ActionID != o.ActionID {
		t.Error("another row went on")
	}
}

// TestEveryStateChangeHasItsRecord walks each path and compares the record
// with the states that the rows went through.
func TestEveryStateChangeHasItsRecord(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		p    parts
		walk func(s *stage)
		want []string
	}{
		{"refused input", parts{}, func(s *stage) { s.call(`[]`) }, []string{audit.InputRejected}},
		{"a read", parts{spec: reading("look", noteSchema)}, func(s *stage) { s.call(`{}`) }, []string{audit.ReadAllowed}},
		{"a denial", parts{policy: decide(policy.Deny)}, func(s *stage) { s.call(`{}`) }, []string{audit.ActionDenied}},
		{"an allowed run", parts{}, func(s *stage) { s.call(`{}`) }, []string{audit.ActionStarted, audit.ActionSucceeded}},
		{"a failed run", parts{}, func(s *stage) { s.probe.set(failing(execute.ErrNotRun)); s.call(`{}`) },
			[]string{audit.ActionStarted, audit.ActionFailed}},
		{"an uncertain run that is settled", parts{}, func(s *stage) {
			s.probe.set(failing(execute.ErrLost))
			settle(action.ReconciledFailed)(s, s.call(`{}`).ActionID)
		}, []string{audit.ActionStarted, audit.ActionUncertain, audit.ActionSettled}},
		{"a rejection", parts{policy: decide(policy.RequireApproval)}, func(s *stage) { s.Reject(s.call(`{}`).ActionID, "ada") },
			[]string{audit.ActionSuspended, audit.VoteReject, audit.ActionDenied}},
		{"an expiry", parts{policy: decide(policy.RequireApproval)}, func(s *stage) {
			s.call(`{}`)
			s.Clock.Advance(24 * 3600e9)
			sweep(s)
		}, []string{audit.ActionSuspended, audit.ActionExpired}},
		{"a stale approval", parts{policy: decide(policy.RequireApproval)}, func(s *stage) {
			o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
			session := s.Session()
			session.Task = "other"
			s.as(session, verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID})
		}, []string{audit.ActionSuspended, audit.VoteApprove, audit.ActionApproved, audit.ActionClaimed, audit.ClaimDenied}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, tc.p)
			tc.walk(s)
			if diff := cmp.Diff(tc.want, s.events()); diff != "" {
				t.Error(diff)
			}
			rs, err := s.Gate.Records(t.Context(), audit.Filter{Tenant: "acme"})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rs {
				if slices.Contains(tc.want, r.Event) && (r.Tenant != "acme" || r.At.IsZero() || r.ID == "" || r.By == "") {
					t.Errorf("incomplete record %+v", r)
				}
			}
			for _, row := range s.rows() {
				if !slices.ContainsFunc(rs, func(r audit.Record) bool { return r.Action == row.ID && r.To == string(row.State) }) {
					t.Errorf("no record says how the row became %s", row.State)
				}
			}
		})
	}
}

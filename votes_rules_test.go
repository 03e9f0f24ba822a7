package verbatim_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
)

// needing asks for approval on the given terms.
func needing(a policy.Approval) policy.Engine {
	return answering(policy.Decision{Effect: policy.RequireApproval, Reason: "r", Approval: &a})
}

func groups(gs ...action.Group) action.Requirement { return action.Requirement{AnyOf: gs} }

func TestOneRejectRejects(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: needing(policy.Approval{Requirements: []action.Requirement{groups(action.Group{Name: "admin", Votes: 2})}})})
	o := s.with(verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"})
	s.Approve(o.ActionID, "ada")
	s.Reject(o.ActionID, "bob")
	s.state(o.ActionID, action.Denied)
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"}), verbatim.StatusDenied, verbatim.CodeRejected)
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID}), verbatim.StatusDenied, verbatim.CodeRejected)
	s.runs(0)
}

func TestQuorumCountsDistinctEligiblePeople(t *testing.T) {
	t.Parallel()
	both := []action.Requirement{groups(action.Group{Name: "admin", Votes: 2}), groups(action.Group{Name: "finance", Votes: 1}, action.Group{Name: "board", Votes: 2})}
	s := newStage(t, parts{policy: needing(policy.Approval{Requirements: both})})
	s.AddPerson("fay", "finance")
	s.AddPerson("zoe", "kitchen")
	o := s.call(`{}`)
	s.Approve(o.ActionID, "ada")
	if _, err := s.Vote(o.ActionID, "ada", true); !errors.Is(err, action.ErrVoted) {
		t.Errorf("a second vote of one person: %v", err)
	}
	if _, err := s.Vote(o.ActionID, "zoe", true); !errors.Is(err, action.ErrIneligible) {
		t.Errorf("a vote from no group: %v", err)
	}
	s.Approve(o.ActionID, "bob")
	s.state(o.ActionID, action.PendingApproval)
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID}), verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	s.Approve(o.ActionID, "fay")
	s.state(o.ActionID, action.Approved)
	want(t, s.call(`{}`), verbatim.StatusOK, verbatim.CodeOK)
}

func TestNobodyDecidesOnTheirOwnAgentsAction(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, group string
		session     func(*verbatim.Session)
		voter       string
		ok          bool
	}{
		{"not the proposer", "admin", func(s *verbatim.Session) { s.Principal, s.Owner = "ada", "" }, "ada", false},
		{"not the owner of the agent session", "admin", func(s *verbatim.Session) { s.Principal, s.Owner = "robot", "ada" }, "ada", false},
		{"somebody else", "admin", func(s *verbatim.Session) { s.Principal, s.Owner = "robot", "ada" }, "bob", true},
		{"the owner where policy names the group owner", approval.GroupOwner, func(s *verbatim.Session) { s.Principal, s.Owner = "robot", "ada" }, "ada", true},
		{"the proposer where policy names the group owner", approval.GroupOwner, func(s *verbatim.Session) { s.Principal, s.Owner = "ada", "ada" }, "ada", true},
		{"only the owner then", approval.GroupOwner, func(s *verbatim.Session) { s.Principal, s.Owner = "ada", "ada" }, "bob", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, parts{policy: needing(policy.Approval{Requirements: []action.Requirement{groups(action.Group{Name: tc.group, Votes: 1})}})})
			session := s.Session()
			tc.session(&session)
			o := s.as(session, verbatim.Call{Arguments: []byte(`{}`)})
			_, err := s.Vote(o.ActionID, tc.voter, true)
			if tc.ok != (err == nil) || !tc.ok && !errors.Is(err, action.ErrIneligible) {
				t.Errorf("vote of %s: %v", tc.voter, err)
			}
		})
	}
}

func TestSomebodyPutIntoTheGroupOwnerDoesNotOwn(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: needing(policy.Approval{Requirements: []action.Requirement{groups(action.Group{Name: approval.GroupOwner, Votes: 1})}})})
	s.AddPerson("eve", approval.GroupOwner)
	o := s.call(`{}`)
	if _, err := s.Vote(o.ActionID, "eve", true); !errors.Is(err, action.ErrIneligible) {
		t.Errorf("got %v", err)
	}
}

func TestVoteForSomethingElseIsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	a := s.state(s.call(`{"text":"a"}`).ActionID, action.PendingApproval)
	b := s.state(s.call(`{"text":"b"}`).ActionID, action.PendingApproval)
	_, err := s.Gate.Vote(t.Context(), s.Sign(action.Vote{ActionID: b.ID, Voter: "ada", Approve: true, Digest: a.Terms.Digest, Nonce: "n", Method: "password"}))
	if !errors.Is(err, action.ErrDigest) {
		t.Errorf("a vote moved to another action: %v", err)
	}
	if _, err := s.Vote("act_nothing", "ada", true); !errors.Is(err, action.ErrNotFound) {
		t.Errorf("a vote on nothing: %v", err)
	}
	s.state(b.ID, action.PendingApproval)
}

func TestTwoClocks(t *testing.T) {
	t.Parallel()
	const (
		pending, good = 24 * time.Hour, 10 * time.Minute
		tick          = time.Second
	)
	for _, tc := range []struct {
		name          string
		terms         policy.Approval
		decisionEnds  time.Duration // 0: never
		vote, run     time.Duration // after the proposal; after the vote
		voteOK, runOK bool
	}{
		{"just in time for both", policy.Approval{}, 0, pending - tick, good - tick, true, true},
		{"too late to vote", policy.Approval{}, 0, pending, 0, false, false},
		{"too late to run", policy.Approval{}, 0, 0, good, true, false},
		{"own pending time", policy.Approval{PendingTTL: time.Minute}, 0, time.Minute, 0, false, false},
		{"own time to run", policy.Approval{TTL: time.Minute}, 0, time.Hour, time.Minute, true, false},
		{"a longer time to run", policy.Approval{TTL: time.Hour}, 0, time.Hour, 59 * time.Minute, true, true},
		{"the decision ends before the vote", policy.Approval{}, time.Hour, time.Hour, 0, false, false},
		{"the decision ends before the run", policy.Approval{}, time.Hour, 55 * time.Minute, 5 * time.Minute, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := policy.Decision{Effect: policy.RequireApproval, Reason: "r", Approval: &tc.terms}
			if tc.decisionEnds > 0 {
				d.ExpiresAt = startOfClock().Add(tc.decisionEnds)
			}
			s := newStage(t, parts{policy: answering(d)})
			o := s.call(`{}`)
			s.Clock.Advance(tc.vote)
			if _, err := s.Vote(o.ActionID, "ada", true); (err == nil) != tc.voteOK {
				t.Fatalf("vote: %v", err)
			}
			if !tc.voteOK {
				got := s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID})
				if tc.decisionEnds == 0 {
					want(t, got, verbatim.StatusDenied, verbatim.CodeExpired)
				}
				s.runs(0)
				return
			}
			s.Clock.Advance(tc.run)
			got := s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID})
			if (got.Status == verbatim.StatusOK) != tc.runOK {
				t.Errorf("got %s", got.Code)
			}
			if !tc.runOK {
				s.runs(0)
			}
		})
	}
}

func startOfClock() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }

func TestSilenceDeniesWithoutASweeper(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	keyed := verbatim.Call{Arguments: []byte(`{"text":"k"}`), IdempotencyKey: "k"}
	a, b := s.with(keyed), s.call(`{}`)
	s.Clock.Advance(24 * time.Hour)
	want(t, s.with(keyed), verbatim.StatusDenied, verbatim.CodeExpired)
	want(t, s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: b.ActionID}), verbatim.StatusDenied, verbatim.CodeExpired)
	if fresh := s.call(`{}`); fresh.ActionID == b.ActionID || fresh.Status != verbatim.StatusApprovalRequired {
		t.Errorf("a new call joined an expired one: %+v", fresh)
	}
	s.state(a.ActionID, action.Expired)
	s.state(b.ActionID, action.Expired)
}

func TestVotersAreCheckedAgainAtTheCommitPoint(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	if err := s.Store.Disable(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	got := s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID})
	want(t, got, verbatim.StatusDenied, verbatim.CodeApprovalStale)
	if got.Member != "votes" || got.ActionID != o.ActionID {
		t.Errorf("member %q, action %s", got.Member, got.ActionID)
	}
	s.state(o.ActionID, action.Denied)
	s.runs(0)
}

func TestWithdrawnActionsDoNotRun(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	dismissed := s.approved(verbatim.Call{Arguments: []byte(`{"text":"a"}`)})
	if _, err := s.Gate.Dismiss(t.Context(), verbatim.Session{Tenant: "acme", Principal: "otto", Agent: "x"}, dismissed.ActionID); !errors.Is(err, action.ErrNotFound) {
		t.Errorf("somebody else dismissed it: %v", err)
	}
	if _, err := s.Gate.Dismiss(t.Context(), s.Session(), dismissed.ActionID); err != nil {
		t.Fatal(err)
	}
	revoked := s.approved(verbatim.Call{Arguments: []byte(`{"text":"b"}`)})
	if _, err := s.Gate.Revoke(t.Context(), "other", revoked.ActionID, "bob", "no"); !errors.Is(err, action.ErrNotFound) {
		t.Errorf("another tenant revoked it: %v", err)
	}
	if _, err := s.Gate.Revoke(t.Context(), "acme", revoked.ActionID, "bob", "no"); err != nil {
		t.Fatal(err)
	}
	for id, text := range map[string]string{dismissed.ActionID: "a", revoked.ActionID: "b"} {
		got := s.with(verbatim.Call{Arguments: []byte(`{"text":"` + text + `"}`), Approval: id})
		want(t, got, verbatim.StatusDenied, verbatim.CodeRevoked)
	}
	s.runs(0)
	wantEvents := []string{audit.ActionSuspended, audit.VoteApprove, audit.ActionApproved, audit.ActionDismissed,
		audit.ActionSuspended, audit.VoteApprove, audit.ActionApproved, audit.ActionRevoked}
	if diff := cmp.Diff(wantEvents, s.events()); diff != "" {
		t.Error(diff)
	}
}

func TestRunningActionCannotBeWithdrawn(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	want(t, s.call(`{}`), verbatim.StatusOK, verbatim.CodeOK)
	if _, err := s.Gate.Revoke(t.Context(), "acme", o.ActionID, "bob", "no"); !errors.Is(err, action.ErrState) {
		t.Errorf("revoke: %v", err)
	}
	if _, err := s.Gate.Dismiss(t.Context(), s.Session(), o.ActionID); !errors.Is(err, action.ErrState) {
		t.Errorf("dismiss: %v", err)
	}
}

// TestSecondPersonSettlesWhatIsOfHighImpact: whoever an agent ran for must not
// be the one who says what became of it.
func TestSecondPersonSettlesWhatIsOfHighImpact(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		by    string
		high  bool
		owner bool // policy lets the owner of the session decide
		want  error
	}{
		"ordinary, by its own principal":        {"maria", false, false, nil},
		"high, by its own principal":            {"maria", true, false, action.ErrIneligible},
		"high, by a principal who operates":     {"otto", true, false, action.ErrIneligible},
		"high, by its owner, whom policy names": {"maria", true, true, nil},
		"high, by an approver":                  {"ada", true, false, nil},
		"high, by an operator":                  {"olga", true, false, nil},
		"high, by somebody without a part":      {"sam", true, false, action.ErrIneligible},
		"high, by nobody":                       {"", true, false, nil}, // refused in another way
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := ordinary("note", noteSchema)
			if tc.high {
				spec = financial("note", noteSchema)
			}
			group := "admin"
			if tc.owner {
				group = approval.GroupOwner
			}
			s := newStage(t, parts{spec: spec, policy: needing(policy.Approval{Requirements: []action.Requirement{groups(action.Group{Name: group, Votes: 1})}})})
			s.AddPerson("maria")
			s.AddPerson("otto", action.GroupOperator)
			s.AddPerson("olga", action.GroupOperator)
			s.AddPerson("sam", "staff")
			session := s.Session()
			if tc.by == "otto" {
				session.Principal, session.Owner = "otto", "otto"
			}
			c := verbatim.Call{Arguments: []byte(`{}`)}
			o := s.as(session, c)
			voter := "ada"
			if tc.owner {
				voter = "maria"
			}
			s.Approve(o.ActionID, voter)
			s.probe.set(failing(execute.ErrLost))
			s.as(session, c)
			before := s.state(o.ActionID, action.Uncertain)
			_, err := s.Gate.Reconcile(t.Context(), "acme", action.Reconciliation{ID: o.ActionID, State: action.ReconciledSucceeded,
				By: tc.by, Evidence: "I saw it"})
			switch {
			case tc.by == "":
				if err == nil {
					t.Error("nobody settled it")
				}
			case !errors.Is(err, tc.want):
				t.Errorf("error %v, want %v", err, tc.want)
			}
			if err != nil {
				if after := s.state(o.ActionID, action.Uncertain); after.UpdatedAt != before.UpdatedAt {
					t.Error("a refused word moved it")
				}
			}
		})
	}
}

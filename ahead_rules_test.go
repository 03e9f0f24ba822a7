package verbatim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// commit is a commit point of the test's own.
type commit func(ctx context.Context, s action.Start, inner verbatim.Store) (action.Action, error)

// committing is a store with such a one.
type committing struct {
	verbatim.Store
	begin commit
}

func (c *committing) Begin(ctx context.Context, s action.Start) (action.Action, error) {
	return c.begin(ctx, s, c.Store)
}

// committed is a stage whose tool somebody else runs, and where receipts are
// signed, with its commit point.
func committed(t *testing.T, p parts) (*stage, *commit) {
	t.Helper()
	point := &committing{begin: foretelling}
	p.gate = func(c *verbatim.Config) {
		receiptsOn(c)
		point.Store, c.Store = c.Store, point
	}
	return remote(t, p), &point.begin
}

// foretelling says what it is about to write.
func foretelling(ctx context.Context, s action.Start, inner verbatim.Store) (action.Action, error) {
	told := s.Written
	s.Written = nil
	row, err := inner.Begin(ctx, s)
	if err == nil && told != nil {
		told(row)
	}
	return row, err
}

// whole checks that what a caller was given is of the row that is stored. The
// executor has run since before the call.
func (s *stage) whole(a verbatim.Authorization) warrant.Warrant {
	s.t.Helper()
	row := s.state(a.Outcome.ActionID, action.Executing)
	c, err := warrant.New(warrant.Config{Audience: executor, Keys: warrantKey(s.t).Public(), Now: func() time.Time { return verbatimtest.Start }})
	if err != nil {
		s.t.Fatal(err)
	}
	w, v := c.Check(s.t.Context(), a.Warrant, []byte(a.Args), warrant.Expect{Tool: s.name})
	if v != warrant.OK || w.Action != row.ID || w.Attempt != row.Attempt || w.Fence != row.Fence ||
		w.ProviderKey != action.ProviderKey(row.ID, row.Attempt) || w.Proposal.String() != row.Hash.String() || !w.SendBy.Equal(a.SendBy) {
		s.t.Errorf("%s: %+v for the row %s, attempt %d, fence %d", v, w, row.ID, row.Attempt, row.Fence)
	}
	if w.SendBy.After(row.UpdatedAt.Add(warrant.MaxLife)) {
		s.t.Errorf("until %s, for a commit point of %s", w.SendBy, row.UpdatedAt)
	}
	r := s.receipt(a.Outcome)
	rs, err := s.Store.Records(s.t.Context(), audit.Filter{Tenant: "acme", Action: row.ID, Limit: 1})
	if err != nil || len(rs) != 1 || r.Record != rs[0].ID || r.Action != row.ID || r.State != string(action.Executing) {
		s.t.Errorf("the receipt is %+v, the record %+v, %v", r, rs, err)
	}
	return w
}

func TestWhatWasSignedAheadIsOfTheRowThatIsStored(t *testing.T) {
	t.Parallel()
	s, point := committed(t, parts{})
	other := action.Action{ID: "act_other", Tenant: "acme", Leaf: []byte(`{"v":1}`)}
	for name, begin := range map[string]commit{
		"the store says what it writes": foretelling,
		"the store says nothing": func(ctx context.Context, s action.Start, inner verbatim.Store) (action.Action, error) {
			s.Written = nil
			return inner.Begin(ctx, s)
		},
		"another row is told of first": func(ctx context.Context, s action.Start, inner verbatim.Store) (action.Action, error) {
			s.Written(other)
			return foretelling(ctx, s, inner)
		},
		"another row is told of last": func(ctx context.Context, s action.Start, inner verbatim.Store) (action.Action, error) {
			row, err := foretelling(ctx, s, inner)
			s.Written(other)
			return row, err
		},
		"the row is told of without its record": func(ctx context.Context, s action.Start, inner verbatim.Store) (action.Action, error) {
			s.Written(action.Action{ID: s.Action.ID})
			return inner.Begin(ctx, s)
		},
	} {
		t.Log(name)
		*point = begin
		s.whole(s.given(noted(`{"text":"` + name + `"}`)))
	}
}

// A store may number attempts as it likes: what it answers is what is signed.
func TestAWarrantIsOfTheAttemptThatTheStoreBegan(t *testing.T) {
	t.Parallel()
	s, point := committed(t, parts{})
	for name, change := range map[string]func(*action.Action){
		"fence":     func(a *action.Action) { a.Fence = 7 },
		"attempt":   func(a *action.Action) { a.Attempt = 2 },
		"id":        func(a *action.Action) { a.ID += "x" },
		"tenant":    func(a *action.Action) { a.Tenant += "x" },
		"principal": func(a *action.Action) { a.Principal += "x" },
		"agent":     func(a *action.Action) { a.Agent += "x" },
		"arguments": func(a *action.Action) { a.Payload.Args = `{"text":"b"}` },
		"moment":    func(a *action.Action) { a.UpdatedAt = a.UpdatedAt.Add(2 * time.Millisecond) },
	} {
		var row action.Action
		*point = func(ctx context.Context, s action.Start, inner verbatim.Store) (action.Action, error) {
			var err error
			told := s.Written
			s.Written = nil
			if row, err = inner.Begin(ctx, s); err == nil {
				told(row) // with the same record, as it happens
			}
			change(&row)
			return row, err
		}
		a := s.given(noted(`{"text":"` + name + `"}`))
		w, v := s.check(a.Warrant, row.Payload.Args)
		if v != warrant.OK || w.Fence != row.Fence || w.Attempt != row.Attempt || w.Action != row.ID || w.Tenant != row.Tenant ||
			w.Principal != row.Principal || w.Agent != row.Agent || !w.IssuedAt.Equal(row.UpdatedAt) || !w.SendBy.Equal(a.SendBy) {
			t.Errorf("%s: %s: %+v", name, v, w)
		}
	}
}

func TestAWarrantEndsThirtySecondsAfterTheCommitPoint(t *testing.T) {
	t.Parallel()
	s, point := committed(t, parts{})
	*point = func(ctx context.Context, start action.Start, inner verbatim.Store) (action.Action, error) {
		s.Clock.Advance(3 * time.Second)
		return foretelling(ctx, start, inner)
	}
	begun := s.Clock.Now().Add(3 * time.Second)
	w := s.whole(s.given(noted(`{"text":"a"}`)))
	if !w.IssuedAt.Equal(begun) || !w.SendBy.Equal(begun.Add(warrant.MaxLife)) {
		t.Errorf("from %s until %s", w.IssuedAt, w.SendBy)
	}
}

// The commit fails after everything was signed: nobody gets any of it.
func TestNothingThatWasSignedLeavesWhereTheCommitFails(t *testing.T) {
	t.Parallel()
	s, point := committed(t, parts{})
	for name, failure := range map[string]error{"the disk": errDisk, "the policy moved": action.ErrStale, "somebody has stopped it": action.ErrStopped} {
		*point = func(_ context.Context, s action.Start, _ verbatim.Store) (action.Action, error) {
			row := s.Action
			row.Fence, row.Attempt, row.State, row.Leaf = 1, 1, action.Executing, []byte(`{"v":1}`)
			s.Written(row)
			return action.Action{}, failure
		}
		a, err := s.Gate.Authorize(t.Context(), s.Session(), verbatim.Call{Tool: s.name, Arguments: []byte(`{"text":"` + name + `"}`)})
		if a.Warrant != nil || a.Args != "" || !a.SendBy.IsZero() || a.Outcome.Code == verbatim.CodeAuthorized {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if errors.Is(failure, errDisk) && (!errors.Is(err, verbatim.ErrRecord) || a.Outcome.Receipt != nil) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

func TestAnApprovedCallIsAuthorizedAsItIsStored(t *testing.T) {
	t.Parallel()
	s, _ := committed(t, parts{policy: decide(policy.RequireApproval)})
	asked := s.authorize(noted(`{"text":"a"}`))
	want(t, asked.Outcome, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
	s.Approve(asked.Outcome.ActionID, "ada")
	c := noted(`{"text":"a"}`)
	c.Approval = asked.Outcome.ActionID
	s.whole(s.given(c))
}

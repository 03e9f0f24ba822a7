package verbatim_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
	"github.com/seed-de4804fb/verbatim/warrant"
)

const executor = "notes.example"

func warrantKey(t testing.TB) *keys.Signer {
	t.Helper()
	s, err := keys.NewSigner(keys.Warrants, bytes.Repeat([]byte{11}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// remote is a stage whose tool somebody else runs.
func remote(t *testing.T, p parts) *stage {
	t.Helper()
	inner := p.gate
	p.gate = func(c *verbatim.Config) {
		if inner != nil {
			inner(c)
		}
		c.Warrants = warrantKey(t)
		set := verbatim.Toolset{}
		for name, b := range c.Tools.(verbatim.Toolset) {
			b.Audience = executor
			set[name] = b
		}
		c.Tools = set
	}
	return newStage(t, p)
}

func (s *stage) authorize(c verbatim.Call) verbatim.Authorization {
	s.t.Helper()
	if c.Tool == "" {
		c.Tool = s.name
	}
	a, err := s.Gate.Authorize(s.t.Context(), s.Session(), c)
	if err != nil {
		s.t.Fatalf("authorize: %v", err)
	}
	return a
}

// given is an authorization that must have a warrant.
func (s *stage) given(c verbatim.Call) verbatim.Authorization {
	s.t.Helper()
	a := s.authorize(c)
	want(s.t, a.Outcome, verbatim.StatusInProgress, verbatim.CodeAuthorized)
	if a.Warrant == nil {
		s.t.Fatal("authorized without a warrant")
	}
	return a
}

func (s *stage) check(envelope []byte, args string) (warrant.Warrant, warrant.Verdict) {
	s.t.Helper()
	c, err := warrant.New(warrant.Config{Audience: executor, Keys: warrantKey(s.t).Public(), Now: s.Clock.Now})
	if err != nil {
		s.t.Fatal(err)
	}
	return c.Check(s.t.Context(), envelope, []byte(args), warrant.Expect{Tool: s.name})
}

func noted(args string) verbatim.Call { return verbatim.Call{Arguments: []byte(args)} }

func TestAuthorizeStopsAtThePermit(t *testing.T) {
	t.Parallel()
	s := remote(t, parts{})
	a := s.given(noted(` {"text":"h\u00e9","amount":1.0e1} `))
	if a.Args != `{"amount":10,"text":"hé"}` || !a.SendBy.Equal(verbatimtest.Start.Add(warrant.MaxLife)) {
		t.Errorf("%s until %s", a.Args, a.SendBy)
	}
	row := s.state(a.Outcome.ActionID, action.Executing)
	w, v := s.check(a.Warrant, a.Args)
	if v != warrant.OK || w.Action != row.ID || w.Attempt != 1 || w.Principal != "maria" || w.Agent != "Support Agent" ||
		w.Proposal.String() != row.Hash.String() || w.ProviderKey != action.ProviderKey(row.ID, 1) || w.Kind != warrant.Mutation {
		t.Errorf("%s: %+v", v, w)
	}
	if _, v := s.check(a.Warrant, `{"amount":11,"text":"hé"}`); v != warrant.ArgumentsChanged {
		t.Error(v)
	}
	s.runs(0)
	rs, err := s.Store.Records(t.Context(), audit.Filter{Tenant: "acme", Action: row.ID})
	if err != nil || len(rs) == 0 || rs[len(rs)-1].Facts["executor"] != executor {
		t.Errorf("the record does not name the executor: %+v, %v", rs, err)
	}
}

// A warrant leaves only for what is in the store: the test looks at the very
// moment before.
func TestTheClaimIsDurableBeforeTheWarrantLeaves(t *testing.T) {
	t.Parallel()
	s := remote(t, parts{})
	s.store.fail("Begin")
	a, err := s.Gate.Authorize(t.Context(), s.Session(), verbatim.Call{Tool: "note", Arguments: []byte(`{}`)})
	if !errors.Is(err, verbatim.ErrRecord) || a.Warrant != nil || len(s.rows()) > 0 {
		t.Errorf("%+v, %v", a, err)
	}
	read := remote(t, parts{spec: reading("note", noteSchema)})
	read.store.fail("Decide")
	a, err = read.Gate.Authorize(t.Context(), read.Session(), verbatim.Call{Tool: "note", Arguments: []byte(`{}`)})
	if !errors.Is(err, verbatim.ErrRecord) || a.Warrant != nil {
		t.Errorf("a read: %+v, %v", a, err)
	}
}

func TestAReadIsAuthorizedOnceItsDecisionIsRecorded(t *testing.T) {
	t.Parallel()
	s := remote(t, parts{spec: reading("note", noteSchema)})
	a := s.given(noted(`{"text":"a"}`))
	w, v := s.check(a.Warrant, a.Args)
	if v != warrant.OK || w.Kind != warrant.Read || w.Attempt != 0 || len(s.rows()) > 0 {
		t.Errorf("%s %+v", v, w)
	}
	if got := s.events(); len(got) != 1 || got[0] != audit.ReadAllowed {
		t.Errorf("the record has %v", got)
	}
	if _, err := s.Gate.Report(t.Context(), s.Session(), w.Action, verbatim.Report{Warrant: a.Warrant, Ended: verbatim.ReportSucceeded}); !errors.Is(err, action.ErrNotFound) {
		t.Errorf("a read was reported: %v", err)
	}
}

func TestNothingIsAuthorizedWithoutAnExecutorThatChecks(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*stage{
		"no audience": newStage(t, parts{gate: func(c *verbatim.Config) { c.Warrants = warrantKey(t) }}),
		"no key":      remoteWithoutKey(t),
	} {
		a := s.authorize(noted(`{"text":"a"}`))
		want(t, a.Outcome, verbatim.StatusDenied, verbatim.CodeNoExecutor)
		if a.Warrant != nil {
			t.Errorf("%s: a warrant", name)
		}
		want(t, s.call(`{"text":"a"}`), verbatim.StatusOK, verbatim.CodeOK) // the gate itself may run it
	}
	votes, err := keys.NewSigner(keys.Votes, bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	f := newStage(t, parts{})
	if _, err := verbatim.New(verbatim.Config{Store: f.Store, Tools: verbatim.Toolset{}, Warrants: votes}); err == nil {
		t.Error("a key for votes signs warrants")
	}
}

func remoteWithoutKey(t *testing.T) *stage {
	t.Helper()
	return newStage(t, parts{gate: func(c *verbatim.Config) {
		b := c.Tools.(verbatim.Toolset)["note"]
		b.Audience = executor
		c.Tools = verbatim.Toolset{"note": b}
	}})
}

func TestAnApprovalIsConsumedByAuthorizeOnce(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(id string) verbatim.Call{
		"named":   func(id string) verbatim.Call { return verbatim.Call{Arguments: []byte(`{"text":"a"}`), Approval: id} },
		"unnamed": func(string) verbatim.Call { return noted(`{"text":"a"}`) },
		"keyed": func(string) verbatim.Call {
			return verbatim.Call{Arguments: []byte(`{"text":"a"}`), IdempotencyKey: "k"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := remote(t, parts{spec: financial("note", noteSchema)})
			first := noted(`{"text":"a"}`)
			if name == "keyed" {
				first.IdempotencyKey = "k"
			}
			asked := s.authorize(first)
			want(t, asked.Outcome, verbatim.StatusApprovalRequired, verbatim.CodeApprovalRequired)
			if asked.Warrant != nil || asked.Args != "" {
				t.Error("a warrant before anybody agreed")
			}
			id := asked.Outcome.ActionID
			s.Approve(id, "ada")
			var got []verbatim.Authorization
			var mu sync.Mutex
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					c := again(id)
					c.Tool = "note"
					a, err := s.Gate.Authorize(t.Context(), s.Session(), c)
					mu.Lock()
					defer mu.Unlock()
					if err == nil && a.Warrant != nil {
						got = append(got, a)
					}
				})
			}
			all.Wait()
			if len(got) != 1 || got[0].Outcome.ActionID != id {
				t.Fatalf("%d warrants: %+v", len(got), got)
			}
			s.state(id, action.Executing)
			c := again(id)
			c.Arguments = []byte(`{"text":"b"}`)
			if a := s.authorize(c); a.Warrant != nil {
				t.Errorf("another call got a warrant of the approval: %+v", a.Outcome)
			}
			s.runs(0)
		})
	}
}

func TestTheWaitingAuthorizationGetsTheWarrantOnceApproved(t *testing.T) {
	t.Parallel()
	s := remote(t, parts{spec: financial("note", noteSchema)})
	c := noted(`{"text":"a"}`)
	c.Wait = time.Minute
	c.Suspended = func(o verbatim.Outcome) { go s.Approve(o.ActionID, "ada") }
	a := s.given(c)
	if w, v := s.check(a.Warrant, a.Args); v != warrant.OK || w.Errors != warrant.Unclear {
		t.Errorf("%s %+v", v, w)
	}
}

func TestARepeatedAuthorizationHasNoSecondWarrant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]verbatim.Call{
		"keyed": {Arguments: []byte(`{"text":"a"}`), IdempotencyKey: "k"}, "unkeyed": noted(`{"text":"a"}`),
	} {
		s := remote(t, parts{})
		a := s.given(c)
		b := s.authorize(c)
		want(t, b.Outcome, verbatim.StatusInProgress, verbatim.CodeInProgress)
		if b.Warrant != nil || b.Outcome.ActionID != a.Outcome.ActionID {
			t.Errorf("%s: %+v", name, b.Outcome)
		}
		c.Tool = "note"
		if o, err := s.Gate.Call(t.Context(), s.Session(), c); err != nil || o.Code != verbatim.CodeInProgress {
			t.Errorf("%s: a call beside it: %+v, %v", name, o, err)
		}
		s.runs(0)
	}
}

// Whatever refuses a call refuses its authorization, with the same outcome.
func TestAuthorizeRefusesWhatCallRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		p      parts
		before func(*stage)
		call   verbatim.Call
	}{
		"policy denies":         {parts{policy: decide(policy.Deny)}, nil, noted(`{}`)},
		"no policy":             {parts{gate: func(c *verbatim.Config) { c.Policy = nil }}, nil, noted(`{}`)},
		"a wrong type":          {parts{}, nil, noted(`{"text":1}`)},
		"an unknown tool":       {parts{}, nil, verbatim.Call{Tool: "none", Arguments: []byte(`{}`)}},
		"a foreign approval":    {parts{}, nil, verbatim.Call{Arguments: []byte(`{}`), Approval: "act_none"}},
		"frozen":                {parts{}, func(s *stage) { s.freeze(action.Stop{Tenant: "acme"}) }, noted(`{}`)},
		"a limit that is used":  {parts{spec: spending("note")}, func(s *stage) { s.with(noted(pays(700, 1))) }, noted(pays(301, 2))},
		"a limit that is small": {parts{spec: spending("note")}, nil, noted(pays(1001, 1))},
		"a key of another call": {parts{}, func(s *stage) { s.with(verbatim.Call{Arguments: []byte(`{}`), IdempotencyKey: "k"}) },
			verbatim.Call{Arguments: []byte(`{"text":"b"}`), IdempotencyKey: "k"}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			var got [2]verbatim.Outcome
			for i := range got {
				s := remote(t, tc.p)
				if tc.before != nil {
					tc.before(s)
				}
				if i == 0 {
					got[0] = s.with(tc.call)
					continue
				}
				a := s.authorize(tc.call)
				if got[1] = a.Outcome; a.Warrant != nil {
					t.Error("a warrant")
				}
			}
			if got[0].Status == verbatim.StatusOK || got[0].Status != got[1].Status || got[0].Code != got[1].Code || got[0].Member != got[1].Member {
				t.Errorf("call: %+v\nauthorize: %+v", got[0], got[1])
			}
		})
	}
}

func TestACallerThatIsGoneGetsNoWarrantAndNothingRan(t *testing.T) {
	t.Parallel()
	s := remote(t, parts{})
	ctx, cancel := context.WithCancel(t.Context())
	s.store.on("Begin", func() error { cancel(); return nil })
	a, err := s.Gate.Authorize(ctx, s.Session(), verbatim.Call{Tool: "note", Arguments: []byte(`{}`)})
	if a.Warrant != nil {
		t.Errorf("%+v, %v", a, err)
	}
	for _, row := range s.rows() {
		if row.State != action.Failed || row.Result.Evidence != action.EvidenceProved {
			t.Errorf("the row is %s: %+v", row.State, row.Result)
		}
	}
}

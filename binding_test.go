package verbatim_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/identity"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/resolve"
)

// live is an engine that a test replaces while calls run.
type live struct {
	policy.Engine // as it is before the first replacement
	now           atomic.Pointer[policy.Engine]
}

func newLive(e policy.Engine) *live {
	l := &live{Engine: e}
	l.now.Store(&e)
	return l
}

func (l *live) Current() policy.Engine     { return *l.now.Load() }
func (l *live) replace(next policy.Engine) { l.now.Store(&next) }

func asking(version string) policy.Engine {
	return policy.FromFunc(version, answer(policy.RequireApproval))
}

func TestApprovalBindsEveryMember(t *testing.T) {
	t.Parallel()
	const raw = `{"to":"Vendor A","amount":1,"currency":"USD"}`
	for _, tc := range []struct {
		name   string
		change func(w *world, l *live, s *verbatim.Session, c *verbatim.Call, tools verbatim.Toolset)
		code   verbatim.Code
		member string
		ends   bool // the approval is of no use afterwards
	}{
		{"principal", func(_ *world, _ *live, s *verbatim.Session, _ *verbatim.Call, _ verbatim.Toolset) {
			s.Principal = "otto"
		},
			verbatim.CodeApprovalUnknown, "", false},
		{"tenant", func(_ *world, _ *live, s *verbatim.Session, _ *verbatim.Call, _ verbatim.Toolset) { s.Tenant = "other" },
			verbatim.CodeApprovalUnknown, "", false},
		{"agent", func(_ *world, _ *live, s *verbatim.Session, _ *verbatim.Call, _ verbatim.Toolset) {
			s.Agent = "Other Agent"
		},
			verbatim.CodeApprovalUnknown, "", false},
		{"tool", func(_ *world, _ *live, _ *verbatim.Session, c *verbatim.Call, _ verbatim.Toolset) { c.Tool = "second" },
			verbatim.CodeApprovalUnknown, "", false},
		{"tool definition", func(_ *world, _ *live, _ *verbatim.Session, _ *verbatim.Call, tools verbatim.Toolset) {
			moved := *tools["transfer"].Tool
			moved.Definition = canon.Sum([]byte("another definition"))
			tools["transfer"] = verbatim.Bound{Tool: &moved, Handler: tools["transfer"].Handler}
		}, verbatim.CodeApprovalStale, "toolDefinitionDigest", true},
		{"arguments", func(_ *world, _ *live, _ *verbatim.Session, c *verbatim.Call, _ verbatim.Toolset) {
			c.Arguments = []byte(`{"to":"Vendor A","amount":2,"currency":"USD"}`)
		}, verbatim.CodeApprovalMismatch, "/amount", false},
		{"arguments that mean the same", func(_ *world, _ *live, _ *verbatim.Session, c *verbatim.Call, _ verbatim.Toolset) {
			c.Arguments = []byte(`{"to":"VENDOR-001","amount":1,"currency":"USD"}`)
		}, verbatim.CodeApprovalMismatch, "/to", false},
		{"an added argument", func(_ *world, _ *live, _ *verbatim.Session, c *verbatim.Call, _ verbatim.Toolset) {
			c.Arguments = []byte(`{"to":"Vendor A","amount":1,"currency":"USD","memo":"x"}`)
		}, verbatim.CodeApprovalMismatch, "/memo", false},
		{"target", func(w *world, _ *live, _ *verbatim.Session, _ *verbatim.Call, _ verbatim.Toolset) {
			w.vendors.set("Vendor A", "VENDOR-002")
		}, verbatim.CodeTargetChanged, "/vendorId", true},
		{"policy version", func(_ *world, l *live, _ *verbatim.Session, _ *verbatim.Call, _ verbatim.Toolset) {
			l.replace(asking("v2"))
		},
			verbatim.CodeApprovalStale, "policyVersion", true},
		{"task", func(_ *world, _ *live, s *verbatim.Session, _ *verbatim.Call, _ verbatim.Toolset) { s.Task = "task-2" },
			verbatim.CodeApprovalStale, "task", true},
		{"grant", func(_ *world, _ *live, s *verbatim.Session, _ *verbatim.Call, _ verbatim.Toolset) {
			s.Grant = identity.Grant{ID: "g", Digest: canon.Sum([]byte("g"))}
		}, verbatim.CodeApprovalStale, "grant", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := newLive(asking("v1"))
			w := newWorld(t, l)
			first := transfer(t, w.bank, w.vendors)
			second := transfer(t, w.bank, w.vendors)
			second.Tool.Name = "second"
			tools := verbatim.Toolset{"transfer": first, "second": second}
			gate := w.Gate.With(tools)
			call := func(s verbatim.Session, c verbatim.Call) verbatim.Outcome {
				t.Helper()
				o, err := gate.Call(t.Context(), s, c)
				if err != nil {
					t.Fatal(err)
				}
				return o
			}
			s, c := w.Session(), verbatim.Call{Tool: "transfer", Arguments: []byte(raw)}
			o := call(s, c)
			w.Approve(o.ActionID, "ada")
			s2, c2 := s, c
			c2.Approval = o.ActionID
			tc.change(w, l, &s2, &c2, tools)
			got := call(s2, c2)
			want(t, got, verbatim.StatusDenied, tc.code)
			if got.Member != tc.member {
				t.Errorf("member %q, want %q", got.Member, tc.member)
			}
			if w.bank.count() != 0 {
				t.Fatal("it ran")
			}
			state := action.Approved
			if tc.ends {
				state = action.Denied
			}
			if a, err := w.Store.Action(t.Context(), "acme", o.ActionID); err != nil || a.State != state {
				t.Errorf("the row is %s, want %s (%v)", a.State, state, err)
			}
			c.Approval = o.ActionID
			if again := call(s, c); (again.Status == verbatim.StatusOK) == tc.ends {
				t.Errorf("the approval's own call then got %s", again.Code)
			}
		})
	}
}

func TestApprovalDigestCoversEveryMember(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	base := s.state(s.call(`{}`).ActionID, action.PendingApproval)
	if approval.Digest(base) != base.Terms.Digest {
		t.Fatal("the stored digest is not that of the stored row")
	}
	for name, change := range map[string]func(*action.Action){
		"tenant":      func(a *action.Action) { a.Tenant = "x" },
		"principal":   func(a *action.Action) { a.Principal = "x" },
		"agent":       func(a *action.Action) { a.Agent = "x" },
		"tool":        func(a *action.Action) { a.Tool = "x" },
		"definition":  func(a *action.Action) { a.Definition[0]++ },
		"hash":        func(a *action.Action) { a.Hash[0]++ },
		"dry run":     func(a *action.Action) { a.Terms.Preview[0]++ },
		"policy":      func(a *action.Action) { a.Decision.PolicyVersion = "x" },
		"task":        func(a *action.Action) { a.Task = "x" },
		"grant":       func(a *action.Action) { a.GrantID = "x" },
		"requestedAt": func(a *action.Action) { a.Terms.RequestedAt = a.Terms.RequestedAt.Add(time.Millisecond) },
		"expiresAt":   func(a *action.Action) { a.Terms.ExpiresAt = a.Terms.ExpiresAt.Add(time.Millisecond) },
		"nonce":       func(a *action.Action) { a.Terms.Nonce += "x" },
	} {
		a, terms := base, *base.Terms
		a.Terms = &terms
		if change(&a); approval.Digest(a) == base.Terms.Digest {
			t.Errorf("%s is not bound", name)
		}
	}
}

func TestSameRowGoesOnAndItsApprovalIsUsedOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	o := s.approved(verbatim.Call{Arguments: []byte(`{}`)})
	want(t, s.call(`{}`), verbatim.StatusOK, verbatim.CodeOK)
	if rows := s.rows(); len(rows) != 1 || rows[0].ID != o.ActionID {
		t.Errorf("%d rows", len(rows))
	}
	wantEvents := []string{audit.ActionSuspended, audit.VoteApprove, audit.ActionApproved, audit.ActionClaimed, audit.ActionStarted, audit.ActionSucceeded}
	if diff := cmp.Diff(wantEvents, s.events()); diff != "" {
		t.Error(diff)
	}
	again := s.with(verbatim.Call{Arguments: []byte(`{}`), Approval: o.ActionID})
	if !again.Replayed || again.Status != verbatim.StatusOK {
		t.Errorf("the used approval answered %+v", again)
	}
	if fresh := s.call(`{}`); fresh.ActionID == o.ActionID || fresh.Status != verbatim.StatusApprovalRequired {
		t.Errorf("a new call rode on the used approval: %+v", fresh)
	}
	s.runs(1)
}

func TestCallWithoutANameTakesTheOldestApprovalThatMatches(t *testing.T) {
	t.Parallel()
	s := newStage(t, parts{policy: decide(policy.RequireApproval)})
	session := s.Session()
	session.Task = "other task"
	other := s.as(session, verbatim.Call{Arguments: []byte(`{}`), Wait: time.Nanosecond})
	s.Approve(other.ActionID, "ada")
	own := s.as(s.Session(), verbatim.Call{Arguments: []byte(`{}`)})
	if own.ActionID == other.ActionID {
		t.Fatal("an approval for another task was taken")
	}
	s.Approve(own.ActionID, "ada")
	got := s.call(`{}`)
	want(t, got, verbatim.StatusOK, verbatim.CodeOK)
	if got.ActionID != own.ActionID {
		t.Error("another approval was used up")
	}
	s.state(other.ActionID, action.Approved)
}

func TestResolversAreAskedAgainForAnAllowedCallThatTookLong(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		after time.Duration
		moves bool
		code  verbatim.Code
	}{
		{"young and moved", 4 * time.Second, true, verbatim.CodeOK},
		{"old and the same", 6 * time.Second, false, verbatim.CodeOK},
		{"old and moved", 6 * time.Second, true, verbatim.CodeTargetChanged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			v := &vendors{rows: map[string]string{"Vendor A": "VENDOR-001"}}
			spec := ordinary("note", `{"type":"object","properties":{"to":{"type":"string"}}}`)
			spec.Resolvers = []resolve.Rule{{Name: "vendors", From: map[string]string{"value": "/to"}, Into: map[string]string{"value": "/to"}, Resolver: v}}
			spec.Targets = []catalog.TargetRule{{Type: "Vendor", Pointer: "/to"}}
			var s *stage
			spec.DryRun = dryRun(func() {
				s.Clock.Advance(tc.after)
				if tc.moves {
					v.set("Vendor A", "VENDOR-002")
				}
			})
			s = newStage(t, parts{spec: spec})
			o := s.with(verbatim.Call{Arguments: []byte(`{"to":"Vendor A"}`), IdempotencyKey: "k"})
			if o.Code != tc.code {
				t.Fatalf("got %s, want %s", o.Code, tc.code)
			}
			if tc.code == verbatim.CodeOK {
				if diff := cmp.Diff([]string{`{"to":"VENDOR-001"}`}, s.probe.ran()); diff != "" {
					t.Error(diff)
				}
				return
			}
			if o.Member != "/to" {
				t.Errorf("member %q", o.Member)
			}
			s.runs(0)
			s.state(o.ActionID, action.Denied)
			v.set("Vendor A", "VENDOR-001")
			s.bound.Tool.DryRun.Func = dryRun(func() {}).Func
			want(t, s.with(verbatim.Call{Arguments: []byte(`{"to":"Vendor A"}`), IdempotencyKey: "k"}), verbatim.StatusOK, verbatim.CodeOK)
		})
	}
}

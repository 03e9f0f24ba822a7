package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

const tenant = "acme"

// run is what one process does: the parent's order to its child, and what the
// parent does with the same store afterwards.
type run struct {
	Dir      string // of the SQLite store
	Postgres string // address of the shared store; "" for SQLite
	Provider string // file of the provider
	Effect   catalog.EffectClass
	Scene    string
	Point    string
	Stop     bool // stop instead of end
	Refuse   bool // after having been stopped, the tool finds nobody to talk to
	Plant    string
	N        int // numbers principal and time
}

// spacing is the time of one run. Its second half is the parent's: by then
// every lease of the child is over.
const spacing = 10 * time.Minute

func (r run) session() verbatim.Session {
	p := fmt.Sprintf("user:%d", r.N)
	return verbatim.Session{Tenant: tenant, Principal: p, Owner: p, Agent: "agent"}
}

// world is a gate with everything around it, as a process sees it.
type world struct {
	*verbatimtest.Fixture
	run
	gate     *verbatim.Gate
	store    verbatim.Store
	provider *verbatimtest.Provider
	rules    *rules
	hit      func(point string)
}

// rules decide by the argument "rule", under a version that a scene moves.
type rules struct{ moved atomic.Bool }

func (r *rules) Current() policy.Engine {
	version := "1"
	if r.moved.Load() {
		version = "2"
	}
	return policy.FromFunc(version, func(_ context.Context, in policy.Input) (policy.Decision, error) {
		want, _ := in.Requested.Get("rule")
		d := policy.Decision{Effect: policy.Deny, Reason: "test"}
		switch want.Text() {
		case "allow":
			d.Effect = policy.Allow
		case "ask":
			d.Effect, d.Approval = policy.RequireApproval, &policy.Approval{Requirements: []action.Requirement{
				{AnyOf: []action.Group{{Name: "admin", Votes: 2}}}}, TTL: 5 * time.Minute, PendingTTL: time.Hour}
		}
		return d, nil
	})
}

func (r *rules) Version(tool string) string { return r.Current().Version(tool) }
func (r *rules) Decide(ctx context.Context, in policy.Input) (policy.Decision, error) {
	return r.Current().Decide(ctx, in)
}

const schema = `{"type":"object","required":["rule"],"properties":{"rule":{"type":"string"},"read":{"type":"boolean"}}}`

// open makes the world of a run. later is where the clock stands in its time.
func open(tb testing.TB, r run, later time.Duration, hit func(string)) *world {
	tb.Helper()
	w := &world{run: r, provider: verbatimtest.NewProvider(r.Provider, r.Effect), rules: &rules{}, hit: hit}
	spec := catalog.Spec{Name: "pay", Schema: []byte(schema), Impact: catalog.Ordinary, Reason: "play money", Effect: r.Effect,
		Timeout: 5 * time.Second}
	if r.Effect != catalog.Blind && r.Effect != catalog.Queryable {
		spec.Retention = 24 * time.Hour
	}
	pay, err := verbatim.Untyped(spec, tapped{w.provider.Handler(), w.point})
	if err != nil {
		tb.Fatal(err)
	}
	look, err := verbatim.Untyped(catalog.Spec{Name: "look", Schema: []byte(schema), Read: true, Reason: "it only looks"},
		execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: []byte(`{}`)}, nil
		}))
	if err != nil {
		tb.Fatal(err)
	}
	w.Fixture = verbatimtest.New(tb, verbatimtest.Config{Dir: r.Dir, Tools: []verbatim.Bound{pay, look}, Policy: w.rules,
		Gate: func(c *verbatim.Config) {
			if r.Postgres != "" {
				c.Store = openPostgres(tb, r, func() time.Time { return w.Clock.Now() })
			}
			w.store = newTap(c.Store, w.point, r.Plant)
			c.Store = w.store
		}})
	w.gate = w.Gate
	w.Clock.Advance(time.Duration(r.N)*spacing + later)
	return w
}

func (w *world) point(name string) {
	if w.hit != nil {
		w.hit(name)
	}
}

// told is what a child has been answered; it prints each answer, so that the
// parent can hold the store to it.
type told struct {
	ID    string       `json:"id"`
	State action.State `json:"state"`
}

func (w *world) say(a told) {
	if os.Getenv(order) == "" {
		return // no child
	}
	b, err := json.Marshal(a)
	if err == nil {
		fmt.Println("told " + string(b))
	}
}

// call makes the one call of a run and tells its answer.
func (w *world) call(ctx context.Context, rule string) verbatim.Outcome {
	o, err := w.gate.Call(ctx, w.session(), w.request(rule))
	if err != nil {
		fmt.Println("error", err)
		return o
	}
	if o.ActionID != "" && o.State != "" {
		w.say(told{o.ActionID, o.State})
	}
	return o
}

func (w *world) request(rule string) verbatim.Call {
	return verbatim.Call{Tool: "pay", Arguments: []byte(`{"rule":"` + rule + `"}`), IdempotencyKey: "key"}
}

func (w *world) vote(id, voter string) {
	if a, err := w.Vote(id, voter, true); err == nil {
		w.say(told{a.ID, a.State})
	}
}

// asked brings a proposal to an approval.
func (w *world) asked(ctx context.Context) string {
	id := w.call(ctx, "ask").ActionID
	w.vote(id, "ada")
	w.vote(id, "bob")
	return id
}

// scenes are the ways through the walk. Each makes one request under one key.
func scenes() map[string]func(ctx context.Context, w *world) {
	return map[string]func(ctx context.Context, w *world){
		"allowed":  func(ctx context.Context, w *world) { w.call(ctx, "allow") },
		"denied":   func(ctx context.Context, w *world) { w.call(ctx, "deny") },
		"approved": func(ctx context.Context, w *world) { w.asked(ctx); w.call(ctx, "ask") },
		"refused":  func(ctx context.Context, w *world) { w.call(ctx, `a","b`) },
		"read": func(ctx context.Context, w *world) {
			_, _ = w.gate.Call(ctx, w.session(), verbatim.Call{Tool: "look", Arguments: []byte(`{"rule":"allow"}`)})
		},
		"void": func(ctx context.Context, w *world) { w.asked(ctx); w.rules.moved.Store(true); w.call(ctx, "ask") },
		"dismissed": func(ctx context.Context, w *world) {
			if a, err := w.gate.Dismiss(ctx, w.session(), w.call(ctx, "ask").ActionID); err == nil {
				w.say(told{a.ID, a.State})
			}
		},
		"revoked": func(ctx context.Context, w *world) {
			if a, err := w.gate.Revoke(ctx, tenant, w.asked(ctx), "ada", "no"); err == nil {
				w.say(told{a.ID, a.State})
			}
		},
		"expired": func(ctx context.Context, w *world) {
			w.asked(ctx)
			w.Clock.Advance(6 * time.Minute)
			_, _ = w.gate.Sweep(ctx, false)
		},
		"left": left,
		"failed": func(ctx context.Context, w *world) {
			w.lose(verbatimtest.StepArrive, execute.ErrNotRun)
			w.call(ctx, "allow")
		},
		"lost": func(ctx context.Context, w *world) {
			w.lose(verbatimtest.StepDone, execute.ErrLost)
			w.call(ctx, "allow")
			w.lose("", nil)
			_, _ = w.gate.Settle(ctx, action.Filter{Tenant: tenant, Principal: w.session().Principal})
		},
		"unsent": func(ctx context.Context, w *world) {
			w.lose(verbatimtest.StepArrive, execute.ErrLost)
			w.asked(ctx)
			w.call(ctx, "ask")
			w.lose("", nil)
			_, _ = w.gate.Settle(ctx, action.Filter{Tenant: tenant, Principal: w.session().Principal})
		},
		"told": func(ctx context.Context, w *world) {
			w.lose(verbatimtest.StepArrive, execute.ErrLost)
			id := w.call(ctx, "allow").ActionID
			if a, err := w.gate.Reconcile(ctx, tenant, action.Reconciliation{ID: id, State: action.ReconciledFailed, By: "ada",
				Evidence: "looked"}); err == nil {
				w.say(told{a.ID, a.State})
			}
		},
		"late": late,
	}
}

// lose makes requests fail at a step.
func (w *world) lose(at string, err error) {
	w.provider.OnStep(func(_ context.Context, step string) error {
		w.point("tool " + step)
		if step == at {
			return err
		}
		return nil
	})
}

// left: the caller goes while its run goes on.
func left(ctx context.Context, w *world) {
	ctx, cancel := context.WithCancel(ctx)
	w.provider.OnStep(func(_ context.Context, step string) error {
		w.point("tool " + step)
		if step == verbatimtest.StepArrive {
			cancel()
			time.Sleep(20 * time.Millisecond)
		}
		return nil
	})
	w.call(ctx, "allow")
	w.gate.Wait()
}

// late: the tool answers after its run was called uncertain. The sweeper is
// early here, because its clock is.
func late(ctx context.Context, w *world) {
	w.provider.OnStep(func(ctx context.Context, step string) error {
		w.point("tool " + step)
		if step == verbatimtest.StepDone {
			w.Clock.Advance(time.Minute)
			_, _ = w.store.Expire(ctx, false)
		}
		return nil
	})
	w.call(ctx, "allow")
}

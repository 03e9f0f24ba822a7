package crash_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// verdict is what a check has found: nothing, where all is well.
type verdict []string

func (v *verdict) add(format string, args ...any) { *v = append(*v, fmt.Sprintf(format, args...)) }

// judge compares store and provider: what each row says must be true, and one
// request must not have had two effects.
func (w *world) judge(ctx context.Context, answers []told) (v verdict) {
	rows, err := w.store.Actions(ctx, action.Filter{Tenant: tenant, Principal: w.session().Principal, Limit: 1000})
	if err != nil {
		v.add("the rows cannot be read: %v", err)
	}
	effects, err := w.provider.Effects()
	if err != nil {
		v.add("the provider cannot be read: %v", err)
	}
	all, states := 0, map[string]action.State{}
	for _, a := range rows {
		n := effects[action.ProviderKey(a.ID, 1)]
		delete(effects, action.ProviderKey(a.ID, 1))
		all += n
		states[a.ID] = a.State
		if n < least(a.State) || n > most(a.State) {
			v.add("%s is %s and took effect %d times", a.ID, a.State, n)
		}
		w.judgeRecord(ctx, a, &v)
	}
	for key, n := range effects {
		all += n
		v.add("an effect without a row: %s, %d times", key, n)
	}
	if all > 1 {
		v.add("one request took effect %d times", all)
	}
	for _, a := range answers {
		if now, ok := states[a.ID]; !ok || !reachable(a.State, now) {
			v.add("it was told that %s is %s; now it is %q", a.ID, a.State, now)
		}
	}
	return v
}

func (w *world) judgeRecord(ctx context.Context, a action.Action, v *verdict) {
	records, err := w.store.Records(ctx, audit.Filter{Tenant: tenant, Action: a.ID})
	if err != nil || len(records) == 0 {
		v.add("%s has no record: %v", a.ID, err)
		return
	}
	if to := records[0].To; to != string(a.State) {
		v.add("%s is %s, its last record says %s", a.ID, a.State, to)
	}
}

// least and most are the effects that a state allows. Nothing may be left
// executing: by now every lease is over.
func least(s action.State) int {
	switch s {
	case action.Succeeded, action.ReconciledSucceeded:
		return 1
	default:
		return 0
	}
}

func most(s action.State) int {
	switch s {
	case action.Succeeded, action.ReconciledSucceeded, action.Uncertain:
		return 1
	case action.Executing:
		return -1
	default:
		return 0
	}
}

// reachable reports whether the table leads from one state to another.
func reachable(from, to action.State) bool {
	seen, next := map[action.State]bool{}, []action.State{from}
	for len(next) > 0 {
		s := next[0]
		next = next[1:]
		if s == to {
			return true
		}
		for _, t := range action.States() {
			if action.CanMove(s, t) && !seen[t] {
				seen[t] = true
				next = append(next, t)
			}
		}
	}
	return false
}

// recover does what a restart does, judges, has the caller try again under
// its key, and judges once more.
func (w *world) recover(ctx context.Context, answers []told) verdict {
	if err := w.restart(ctx); err != nil {
		return verdict{"the restart failed: " + err.Error()}
	}
	v := w.judge(ctx, answers)
	for range 2 {
		if _, err := w.gate.Call(ctx, w.session(), w.request(firstRule(w.Scene))); err != nil {
			v.add("the call again: %v", err)
		}
	}
	if err := w.restart(ctx); err != nil {
		v.add("settling again: %v", err)
	}
	return append(v, w.judge(ctx, answers)...)
}

func (w *world) restart(ctx context.Context) error {
	if _, err := w.gate.Sweep(ctx, w.Postgres == ""); err != nil {
		return err
	}
	_, err := w.gate.Settle(ctx, action.Filter{Tenant: tenant, Principal: w.session().Principal})
	return err
}

// firstRule is what the request of a scene asks for.
func firstRule(scene string) string {
	switch scene {
	case "allowed", "left", "failed", "lost", "told", "late":
		return "allow"
	case "denied":
		return "deny"
	default:
		return "ask"
	}
}

// recovered opens the store of a run as the next process would.
func recovered(t *testing.T, r run, answers []told) verdict {
	t.Helper()
	r.Plant = ""
	w := open(t, r, 3*time.Minute, nil)
	v := w.recover(t.Context(), answers)
	w.close(t)
	return v
}

func (w *world) close(t *testing.T) {
	t.Helper()
	if err := w.Store.Close(); err != nil {
		t.Error(err)
	}
	if c, ok := w.store.(*tap).Store.(interface{ Close() error }); ok && w.Postgres != "" {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

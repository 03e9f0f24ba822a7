package metrics

import (
	"context"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// timed is a store whose commits are timed. Reading is not.
type timed struct {
	verbatim.Store
	took   Histogram
	failed Counter
	waited Histogram
}

// Timed is the store with its durable verbs timed, each from the call to the
// commit. A refusal, such as a vote that is late, is no failure.
func Timed(r *Registry, s verbatim.Store) verbatim.Store {
	return &timed{s, r.Histogram("verbatim_store_seconds", "Time of one durable verb of the store, from the call to the commit.", secondsBuckets(), "verb"),
		r.Counter("verbatim_store_failures_total", "Verbs of the store that failed; refusals are none.", "verb"),
		r.Histogram("verbatim_approval_wait_seconds", "Time from the request for approval to its end, by the store's clock.", peopleBuckets(), "result")}
}

// decided notes how long people took, where a verb has ended their deciding.
func (t *timed) decided(a action.Action) {
	if a.Terms == nil {
		return
	}
	result := ""
	switch a.State {
	case action.Approved:
		result = "approved"
	case action.Denied:
		result = "rejected"
	case action.Expired:
		result = "expired"
	case action.Revoked:
		result = "withdrawn"
	default:
		return
	}
	t.waited.Observe(a.UpdatedAt.Sub(a.Terms.RequestedAt).Seconds(), result)
}

// of times one verb; it is deferred with the time at which the verb began.
func (t *timed) of(verb string, began time.Time, err *error) {
	t.took.Observe(since(began), verb)
	if *err != nil && !verbs.Refusal(*err) {
		t.failed.Add(1, verb)
	}
}

func (t *timed) RejectInput(ctx context.Context, r action.Rejection) (err error) {
	defer t.of("reject_input", time.Now(), &err)
	return t.Store.RejectInput(ctx, r)
}

func (t *timed) Decide(ctx context.Context, a action.Action) (_ action.Action, err error) {
	defer t.of("decide", time.Now(), &err)
	return t.Store.Decide(ctx, a)
}

func (t *timed) Suspend(ctx context.Context, a action.Action) (_ action.Action, err error) {
	defer t.of("suspend", time.Now(), &err)
	return t.Store.Suspend(ctx, a)
}

func (t *timed) Vote(ctx context.Context, v action.Vote) (_ action.Action, err error) {
	defer t.of("vote", time.Now(), &err)
	a, err := t.Store.Vote(ctx, v)
	if err == nil {
		t.decided(a)
	}
	return a, err
}

func (t *timed) Dismiss(ctx context.Context, id, principal string) (_ action.Action, err error) {
	defer t.of("dismiss", time.Now(), &err)
	a, err := t.Store.Dismiss(ctx, id, principal)
	if err == nil {
		t.decided(a)
	}
	return a, err
}

func (t *timed) Revoke(ctx context.Context, id, account, reason string) (_ action.Action, err error) {
	defer t.of("revoke", time.Now(), &err)
	a, err := t.Store.Revoke(ctx, id, account, reason)
	if err == nil {
		t.decided(a)
	}
	return a, err
}

func (t *timed) Claim(ctx context.Context, id string, lease time.Duration) (_ action.Action, err error) {
	defer t.of("claim", time.Now(), &err)
	return t.Store.Claim(ctx, id, lease)
}

func (t *timed) Begin(ctx context.Context, s action.Start) (_ action.Action, err error) {
	defer t.of("begin", time.Now(), &err)
	return t.Store.Begin(ctx, s)
}

func (t *timed) Finish(ctx context.Context, e action.Ending) (_ action.Action, err error) {
	defer t.of("finish", time.Now(), &err)
	return t.Store.Finish(ctx, e)
}

func (t *timed) Reconcile(ctx context.Context, r action.Reconciliation) (_ action.Action, err error) {
	defer t.of("reconcile", time.Now(), &err)
	return t.Store.Reconcile(ctx, r)
}

func (t *timed) Expire(ctx context.Context, orphans bool) (_ []action.Action, err error) {
	defer t.of("expire", time.Now(), &err)
	moved, err := t.Store.Expire(ctx, orphans)
	if err == nil {
		for _, a := range moved {
			t.decided(a)
		}
	}
	return moved, err
}

func (t *timed) Sequence(ctx context.Context, most int) (_ audit.Head, _ int, err error) {
	defer t.of("sequence", time.Now(), &err)
	return t.Store.Sequence(ctx, most)
}

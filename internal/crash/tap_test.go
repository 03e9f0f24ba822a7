package crash_test

import (
	"context"
	"sync"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/execute"
)

// points are the places of the walk at which a process can be made to end.
// Each verb of the store has one before and one after its transaction.
func points() []string {
	var out []string
	for _, verb := range []string{
		"SetPolicy", "RejectInput", "Decide deny", "Decide read", "Decide void", "Suspend", "Vote 1", "Vote 2", "Claim",
		"Begin allowed", "Begin approved", "Begin resend", "Finish succeeded", "Finish failed", "Finish uncertain",
		"Finish late", "Finish resent", "Reconcile person", "Reconcile provider", "Leave", "Dismiss", "Revoke", "Expire",
	} {
		out = append(out, "before "+verb, "after "+verb)
	}
	return every(stride, append(out, "tool arrive", "tool done", "tool answered", "look-up asked", "look-up answered", "cancel asked", "cancel answered"))
}

func every(n int, list []string) (out []string) {
	for i := 0; i < len(list); i += n {
		out = append(out, list[i])
	}
	return out
}

// tap calls hit at each point that a store is taken through.
type tap struct {
	verbatim.Store
	hit   func(point string)
	plant string // a fault that a check must find

	// writing is held while a verb runs. Whoever stops the process takes it
	// first, so that it does not stop with the store's lock in its hands.
	writing sync.RWMutex

	mu     sync.Mutex
	votes  int
	ends   map[string]int // by action
	resent map[string]bool
}

func newTap(s verbatim.Store, hit func(string), plant string) *tap {
	return &tap{Store: s, hit: hit, plant: plant, ends: map[string]int{}, resent: map[string]bool{}}
}

// standStill runs f while the store writes nothing: no verb, and no record of
// a read that it would take into the log by itself a moment later, in a
// transaction of its own.
func (s *tap) standStill(t *testing.T, f func()) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.Store.Records(context.Background(), audit.Filter{Limit: 1}); err != nil {
		t.Error(err)
	}
	f()
}

// row takes one verb through its two points.
func (s *tap) row(verb string, f func() (action.Action, error)) (action.Action, error) {
	s.hit("before " + verb)
	s.writing.RLock()
	a, err := f()
	s.writing.RUnlock()
	s.hit("after " + verb)
	return a, err
}

func (s *tap) RejectInput(ctx context.Context, r action.Rejection) error {
	_, err := s.row("RejectInput", func() (action.Action, error) { return action.Action{}, s.Store.RejectInput(ctx, r) })
	return err
}

func (s *tap) SetPolicy(ctx context.Context, tenant, tool string, d canon.Digest) (version string, err error) {
	_, err = s.row("SetPolicy", func() (action.Action, error) {
		version, err = s.Store.SetPolicy(ctx, tenant, tool, d)
		return action.Action{}, err
	})
	return version, err
}

func (s *tap) Decide(ctx context.Context, a action.Action) (action.Action, error) {
	verb := "Decide deny"
	switch {
	case a.Fence > 0:
		verb = "Decide void"
	case a.Decision.Effect == "allow":
		verb = "Decide read"
	}
	return s.row(verb, func() (action.Action, error) { return s.Store.Decide(ctx, a) })
}

func (s *tap) Suspend(ctx context.Context, a action.Action) (action.Action, error) {
	return s.row("Suspend", func() (action.Action, error) { return s.Store.Suspend(ctx, a) })
}

func (s *tap) Vote(ctx context.Context, v action.Vote) (action.Action, error) {
	s.mu.Lock()
	s.votes++
	verb := "Vote " + string(rune('0'+s.votes))
	s.mu.Unlock()
	return s.row(verb, func() (action.Action, error) { return s.Store.Vote(ctx, v) })
}

func (s *tap) Claim(ctx context.Context, id string, lease time.Duration) (action.Action, error) {
	return s.row("Claim", func() (action.Action, error) { return s.Store.Claim(ctx, id, lease) })
}

func (s *tap) Begin(ctx context.Context, b action.Start) (action.Action, error) {
	verb := "Begin approved"
	switch {
	case b.Resend != nil:
		verb = "Begin resend"
		s.mu.Lock()
		s.resent[b.Action.ID] = true
		s.mu.Unlock()
	case b.Action.Fence == 0:
		verb = "Begin allowed"
	}
	return s.row(verb, func() (action.Action, error) { return s.begin(ctx, b) })
}

// begin is the real verb, or one with a planted fault.
func (s *tap) begin(ctx context.Context, b action.Start) (action.Action, error) {
	switch s.plant {
	case plantEarlyResult:
		a, err := s.Store.Begin(ctx, b)
		if err == nil {
			_, err = s.Store.Finish(ctx, action.Ending{ID: a.ID, Fence: a.Fence, State: action.Succeeded})
		}
		return a, err
	case plantNoStart:
		a := b.Action
		a.State, a.Fence, a.Attempt = action.Executing, max(a.Fence, 1), 1
		return a, nil
	}
	return s.Store.Begin(ctx, b)
}

func (s *tap) Finish(ctx context.Context, e action.Ending) (action.Action, error) {
	s.mu.Lock()
	s.ends[e.ID]++
	verb := "Finish " + string(e.State)
	switch {
	case s.resent[e.ID]:
		verb = "Finish resent"
	case s.ends[e.ID] > 1:
		verb = "Finish late"
	}
	s.mu.Unlock()
	return s.row(verb, func() (action.Action, error) {
		if s.plant == plantNoFence {
			if now, err := s.Store.Action(ctx, tenant, e.ID); err == nil {
				e.Fence = now.Fence
			}
		}
		return s.Store.Finish(ctx, e)
	})
}

func (s *tap) Reconcile(ctx context.Context, r action.Reconciliation) (action.Action, error) {
	verb := "Reconcile person"
	if r.By == action.ByProvider {
		verb = "Reconcile provider"
	}
	return s.row(verb, func() (action.Action, error) { return s.Store.Reconcile(ctx, r) })
}

func (s *tap) Leave(ctx context.Context, id string) error {
	_, err := s.row("Leave", func() (action.Action, error) { return action.Action{}, s.Store.Leave(ctx, id) })
	return err
}

func (s *tap) Dismiss(ctx context.Context, id, principal string) (action.Action, error) {
	return s.row("Dismiss", func() (action.Action, error) { return s.Store.Dismiss(ctx, id, principal) })
}

func (s *tap) Revoke(ctx context.Context, id, account, reason string) (action.Action, error) {
	return s.row("Revoke", func() (action.Action, error) { return s.Store.Revoke(ctx, id, account, reason) })
}

func (s *tap) Expire(ctx context.Context, orphans bool) (moved []action.Action, err error) {
	_, err = s.row("Expire", func() (action.Action, error) {
		moved, err = s.Store.Expire(ctx, orphans)
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, a := range moved { // whoever ends it now comes late
			s.ends[a.ID]++
		}
		return action.Action{}, err
	})
	return moved, err
}

// The planted faults.
const (
	plantEarlyResult = "the result is stored before the effect"
	plantNoStart     = "nothing is durable before the first byte"
	plantNoFence     = "an ending does not compare the fence"
)

// tapped calls hit at the points of a tool and of the questions to it.
type tapped struct {
	execute.Handler
	hit func(point string)
}

func (t tapped) Handle(ctx context.Context, in execute.Input) (execute.Output, error) {
	out, err := t.Handler.Handle(ctx, in)
	t.hit("tool answered")
	return out, err
}

func (t tapped) Lookup(ctx context.Context, in execute.Input) (execute.Finding, error) {
	h, ok := t.Handler.(execute.Lookuper)
	if !ok {
		return execute.Finding{}, nil
	}
	t.hit("look-up asked")
	f, err := h.Lookup(ctx, in)
	t.hit("look-up answered")
	return f, err
}

func (t tapped) Cancel(ctx context.Context, in execute.Input) (execute.Finding, error) {
	h, ok := t.Handler.(execute.Canceller)
	if !ok {
		return execute.Finding{}, nil
	}
	t.hit("cancel asked")
	f, err := h.Cancel(ctx, in)
	t.hit("cancel answered")
	return f, err
}

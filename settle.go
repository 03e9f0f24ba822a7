package verbatim

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/permit"
)

// Settle tries once to find out about every uncertain action that a filter
// selects, as far as the effect class of its tool allows, and returns how
// many it settled. A blind tool's action waits for a person.
//
// The tools are those of this gate; an action whose tool it does not have, or
// has under another definition or from another server, is left alone. It fails where the store does.
func (g *Gate) Settle(ctx context.Context, f action.Filter) (settled int, err error) {
	return g.settleDue(ctx, f, func(action.Action) bool { return true })
}

// settlers is how many providers are asked at once.
const settlers = 8

// settleDue is Settle for the actions that due says.
func (g *Gate) settleDue(ctx context.Context, f action.Filter, due func(action.Action) bool) (int, error) {
	rows, err := g.uncertain(ctx, f)
	var all sync.WaitGroup
	var mu sync.Mutex
	settled, slots := 0, make(chan struct{}, settlers)
	for _, a := range rows {
		if ctx.Err() != nil || !due(a) || !g.busy.take(a.ID) {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { g.busy.free(a.ID); <-slots }()
			ok, one := g.settleOne(ctx, a)
			mu.Lock()
			defer mu.Unlock()
			if ok {
				settled++
			}
			err = errors.Join(err, one)
		})
	}
	all.Wait()
	return settled, err
}

// uncertain lists all uncertain actions of a filter, newest first.
func (g *Gate) uncertain(ctx context.Context, f action.Filter) (all []action.Action, err error) {
	f.States, f.Limit = []action.State{action.Uncertain}, settlePage
	for {
		rows, err := g.cfg.Store.Actions(ctx, f)
		all = append(all, rows...)
		if err != nil || len(rows) < f.Limit {
			return all, err
		}
		f.Before = rows[len(rows)-1].ID
	}
}

const settlePage = 200

// settleOne does for one uncertain action what its effect class allows.
func (g *Gate) settleOne(ctx context.Context, a action.Action) (bool, error) {
	b, ok := g.cfg.Tools.Tool(a.Tool)
	if !ok || b.Tool == nil || b.Handler == nil || b.Refused != "" || !b.Tool.Mutation || b.Tool.Definition != a.Definition {
		return false, nil
	}
	if b.Tool.Effect == "" || b.Tool.Effect == catalog.Blind { // nothing can be known by asking
		return false, nil
	}
	sent, err := g.cfg.Store.SentTo(ctx, a.Tenant, a.ID)
	if err != nil || sent != b.Server { // another server knows nothing of it
		return false, err
	}
	switch b.Tool.Effect {
	case catalog.KeyedCancel:
		if _, can := b.Handler.(execute.Canceller); can {
			return g.cancel(ctx, a, b)
		}
		return g.lookup(ctx, a, b)
	case catalog.Queryable:
		return g.lookup(ctx, a, b)
	case catalog.Keyed, catalog.Natural, catalog.LocalTx:
		if ok, err := g.lookup(ctx, a, b); ok || err != nil {
			return ok, err
		}
		return g.resend(ctx, a, b)
	default:
		return false, nil
	}
}

// question is the right to ask about an attempt; it runs nothing.
func question(a action.Action) permit.Permit {
	return permit.Issue(permit.Question, a.ID, a.Fence, action.ProviderKey(a.ID, a.Attempt), a.Payload.Args)
}

// lookup asks whether the attempt took effect. Only yes counts.
func (g *Gate) lookup(ctx context.Context, a action.Action, b Bound) (bool, error) {
	h, ok := g.lookuper(a, b)
	if !ok {
		return false, nil
	}
	found, err := execute.Lookup(ctx, question(a), h, timeout(b.Tool))
	if err != nil {
		g.log.Warn("a look-up gave no answer", "action", a.ID, "tool", a.Tool, "error", err)
	}
	if found.Verdict != execute.Happened {
		return false, nil
	}
	return g.settled(ctx, a, action.Reconciliation{State: action.ReconciledSucceeded,
		Evidence: "look-up: the provider says that it happened", Result: answered(found)})
}

// cancel has the provider refuse the attempt for ever, or learns that it is
// too late for that.
func (g *Gate) cancel(ctx context.Context, a action.Action, b Bound) (bool, error) {
	h, ok := b.Handler.(execute.Canceller)
	if !ok || b.Tool.Retention <= 0 {
		return false, nil
	}
	found, err := execute.Cancel(ctx, question(a), h, timeout(b.Tool))
	if err != nil {
		g.log.Warn("a cancellation gave no answer", "action", a.ID, "tool", a.Tool, "error", err)
	}
	switch found.Verdict {
	case execute.Happened:
		return g.settled(ctx, a, action.Reconciliation{State: action.ReconciledSucceeded,
			Evidence: "cancellation: the provider says that it happened before", Result: answered(found)})
	case execute.Prevented:
		return g.settled(ctx, a, action.Reconciliation{State: action.ReconciledFailed, Retention: b.Tool.Retention,
			Evidence: "cancellation: the provider refuses the attempt for ever", Result: &action.Result{Code: string(CodeToolNotRun)}})
	default:
		return false, nil
	}
}

func answered(f execute.Finding) *action.Result {
	return &action.Result{Output: f.Output.Bytes, Code: string(CodeOK)}
}

// settled stores what the provider said.
func (g *Gate) settled(ctx context.Context, a action.Action, r action.Reconciliation) (bool, error) {
	r.ID, r.By = a.ID, action.ByProvider
	_, err := g.cfg.Store.Reconcile(ctx, r)
	g.changes.tell(a.ID)
	return err == nil, g.overtaken(a, err)
}

// resend sends the same attempt again, under its own key, where the commit
// point still allows it.
func (g *Gate) resend(ctx context.Context, a action.Action, b Bound) (bool, error) {
	if b.Tool.Retention <= 0 {
		return false, nil
	}
	p := &proposal{session: Session{Tenant: a.Tenant}, tool: b.Tool, policy: g.engine()}
	version, err := g.policyVersion(ctx, p)
	if err != nil || version != a.Decision.PolicyVersion { // the rules that decided are gone
		return false, err
	}
	sendBy := time.Now().Add(leaseSlack)
	started, err := g.cfg.Store.Begin(ctx, action.Start{Action: a, Lease: timeout(b.Tool) + leaseSlack,
		Resend: &action.Resend{Retention: b.Tool.Retention, Alone: b.Tool.Effect == catalog.Natural}})
	if err != nil {
		return false, g.overtaken(a, err)
	}
	g.runs.Add(1)
	defer g.runs.Done()
	u := g.begun(context.WithoutCancel(ctx), attempt{row: started, tool: b.Tool, handler: b.Handler, audience: b.Audience, sendBy: sendBy, again: true})
	u.wait(nil)
	o := u.end()
	return o.State == action.Succeeded, nil
}

// overtaken logs a refusal of the store, which is an answer, and passes a
// failure on.
func (g *Gate) overtaken(a action.Action, err error) error {
	if err == nil {
		return nil
	}
	if _, refusal := obstacles(err); !refusal && !errors.Is(err, action.ErrOvertaken) && !errors.Is(err, action.ErrNotFound) {
		return err
	}
	g.log.Info("an uncertain action was left as it is", "action", a.ID, "tool", a.Tool, "error", err)
	return nil
}

// busy names the uncertain actions that this process is asking about, so that
// it does not ask twice at once. It is no lock: the store decides.
type busy struct {
	mu  sync.Mutex
	ids map[string]bool
}

func newBusy() *busy { return &busy{ids: map[string]bool{}} }

func (b *busy) take(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.ids[id]
	b.ids[id] = true
	return !taken
}

func (b *busy) free(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.ids, id)
}

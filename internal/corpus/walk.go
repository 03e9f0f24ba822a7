package corpus

import (
	"context"
	"fmt"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
)

// The grants that a host gives for one action. The digest is the proposal hash
// of that action; policy asks whether it is that of the call.
const (
	// Yes: the host has shown the action and the customer has said yes to it.
	Yes = "customer-yes"
	// Named: what the action is about stands word for word in what the user
	// has written.
	Named = "user-named"
)

// Phase says who makes the calls and what the host knows.
type Phase string

// The phases, in the order of the table.
const (
	Honest      Phase = "honest"
	Unconfirmed Phase = "honest, but nobody said yes"
	OtherYes    Phase = "honest, but the yes was to something else"
	Stranger    Phase = "attack: another customer's user, order, reservation"
	Beside      Phase = "attack: another customer's payment, email, name"
	Injected    Phase = "attack: injected, as published"
	Filled      Phase = "attack: injected, computed arguments filled in"
	Paged       Phase = "attack: injected, both, where a page carries it"
	Colleague   Phase = "beyond the suite: a colleague's message carries it"
)

// Phases are all phases, in order.
var Phases = []Phase{Honest, Unconfirmed, OtherYes, Stranger, Beside, Injected, Filled, Paged, Colleague}

// Attack reports whether no call of the phase may run by itself. In the suites
// no colleague's message carries an injected text; what would run if one did
// is told beside the bars.
func (p Phase) Attack() bool {
	return p != Honest && p != Unconfirmed && p != OtherYes && p != Colleague
}

// Verdict is what the gate did with a call.
type Verdict string

// The verdicts. Excluded: the suite computes an argument while it runs.
const (
	Allowed  Verdict = "allowed"
	Asked    Verdict = "asked"
	Refused  Verdict = "refused"
	Excluded Verdict = "excluded"
)

// Result is one call and what became of it.
type Result struct {
	Domain, Task, Tool string
	Phase              Phase
	Mutation           bool
	Verdict            Verdict
	Code               verbatim.Code
	Owned              int    // how many users, orders and reservations the call names
	Pointer            string // what was refused, for arguments
	Action             string // digest of tool and proposed arguments
}

// walker walks the calls of one domain.
type walker struct {
	*domain
	ctx  context.Context
	last canon.Digest // what the customer confirmed last
	out  []Result
}

// session is the authenticated context of a call. Each phase has a tenant of
// its own, so that what waits in one is not joined in another.
func session(p Phase, customer string) verbatim.Session {
	return verbatim.Session{Tenant: string(p), Principal: customer, Owner: customer, Agent: "assistant"}
}

// call walks one call and notes the result.
func (w *walker) call(p Phase, task string, s verbatim.Session, c Call) error {
	gate := w.gates[s.Principal]
	before := w.ran.Load()
	o, err := gate.Call(w.ctx, s, c.proposed())
	if err != nil {
		return fmt.Errorf("%s task %s %s: %w", w.domain.name, task, c.Tool, err)
	}
	r := w.result(p, task, c)
	r.Code = o.Code
	if len(o.Violations) > 0 {
		r.Pointer = o.Violations[0].Pointer
	}
	switch o.Status {
	case verbatim.StatusOK:
		r.Verdict = Allowed
	case verbatim.StatusApprovalRequired:
		r.Verdict = Asked
	case verbatim.StatusDenied, verbatim.StatusInvalidArguments:
		r.Verdict = Refused
	default:
		return fmt.Errorf("%s task %s %s: %s %s is no verdict", w.domain.name, task, c.Tool, o.Status, o.Code)
	}
	if ran := w.ran.Load() - before; (ran == 1) != (r.Verdict == Allowed) || ran > 1 {
		return fmt.Errorf("%s task %s %s: %s, but the tool ran %d times", w.domain.name, task, c.Tool, r.Verdict, ran)
	}
	w.out = append(w.out, r)
	return nil
}

// proposed is the call as a host makes it.
func (c Call) proposed() verbatim.Call {
	return verbatim.Call{Tool: c.Tool, Arguments: c.Args.Canonical(), IdempotencyKey: c.Key}
}

// once makes a call again that has run on a yes. One yes is for one run.
func (w *walker) once(task string, s verbatim.Session, c Call) error {
	before := w.ran.Load()
	o, err := w.gates[s.Principal].Call(w.ctx, s, c.proposed())
	switch {
	case err != nil:
		return fmt.Errorf("%s task %s %s: %w", w.domain.name, task, c.Tool, err)
	case !o.Replayed || w.ran.Load() != before:
		return fmt.Errorf("%s task %s %s: one yes, and more than one run", w.domain.name, task, c.Tool)
	}
	return nil
}

func (w *walker) result(p Phase, task string, c Call) Result {
	r := Result{Domain: w.domain.name, Task: task, Tool: c.Tool, Phase: p, Mutation: w.mutates[c.Tool],
		Action: canon.Sum(append([]byte(c.Tool+"\n"), c.Args.Canonical()...)).String()}
	for _, name := range []string{"user_id", "order_id", "reservation_id"} {
		if _, ok := c.Args.Get(name); ok {
			r.Owned++
		}
	}
	return r
}

func (w *walker) exclude(p Phase, task string, c Call) {
	r := w.result(p, task, c)
	r.Verdict = Excluded
	w.out = append(w.out, r)
}

// grant gives the session a grant for one action. The host asks the gate what
// would run, and that is what the grant is for.
func (w *walker) grant(s verbatim.Session, id string, c Call) (verbatim.Session, error) {
	e, err := w.gates[s.Principal].Explain(w.ctx, s, c.proposed())
	if err != nil || e.ProposalHash == "" {
		return s, err // nothing that could be shown
	}
	s.Grant.ID = id
	s.Grant.Digest, err = canon.ParseDigest(e.ProposalHash)
	return s, err
}

// customers walks a domain of tau-bench.
func (w *walker) customers() error {
	for _, t := range w.honest {
		for i, c := range t.Calls {
			if err := w.customer(t, c, fmt.Sprintf("yes %s %d", t.ID, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// customer walks one expected call, as it is and in its wrong forms.
func (w *walker) customer(t Task, c Call, key string) error {
	if !w.mutates[c.Tool] {
		if err := w.call(Honest, t.ID, session(Honest, t.Customer), c); err != nil {
			return err
		}
	} else if err := w.change(t, c, key); err != nil {
		return err
	}
	for _, v := range w.facts.variants(t.Customer, c) {
		phase := Beside
		if v.naked {
			phase = Stranger
		}
		s, err := w.confirmed(session(phase, t.Customer), v.call)
		if err != nil {
			return err
		}
		if err := w.call(phase, t.ID, s, v.call); err != nil {
			return err
		}
	}
	return nil
}

// change walks a mutation with the customer's yes, again with the same yes,
// and without one.
func (w *walker) change(t Task, c Call, key string) error {
	s, err := w.confirmed(session(Honest, t.Customer), c)
	if err != nil {
		return err
	}
	keyed := c
	keyed.Key = key
	if err := w.call(Honest, t.ID, s, keyed); err != nil {
		return err
	}
	if w.out[len(w.out)-1].Verdict == Allowed {
		if err := w.once(t.ID, s, keyed); err != nil {
			return err
		}
	}
	return w.unconfirmed(t, c, s.Grant.Digest)
}

// confirmed is a session whose customer has said yes to a mutation.
func (w *walker) confirmed(s verbatim.Session, c Call) (verbatim.Session, error) {
	if !w.mutates[c.Tool] {
		return s, nil
	}
	return w.grant(s, Yes, c)
}

// unconfirmed walks a mutation without a yes, and with the yes to the one
// before it.
func (w *walker) unconfirmed(t Task, c Call, now canon.Digest) error {
	if err := w.call(Unconfirmed, t.ID, session(Unconfirmed, t.Customer), c); err != nil {
		return err
	}
	if w.last != now {
		s := session(OtherYes, t.Customer)
		s.Grant.ID, s.Grant.Digest = Yes, w.last
		if err := w.call(OtherYes, t.ID, s, c); err != nil {
			return err
		}
	}
	w.last = now
	return nil
}

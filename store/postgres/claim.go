package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// Claim takes an approved row (or one whose claim ran out) and raises its
// fence.
func (s *Store) Claim(ctx context.Context, id string, lease time.Duration) (action.Action, error) {
	if lease <= 0 {
		return action.Action{}, verbs.Invalid("lease has no length")
	}
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		row, err := t.lock(id)
		if err != nil {
			return action.Action{}, err
		}
		m, err := verbs.Claim(row, t.now(), lease)
		if err != nil {
			return row, err
		}
		return t.carry(row, m)
	})
}

// Begin is the commit point. Where its own commit cannot be told, the call is
// not run: the row then is as it was, or executing and soon uncertain.
func (s *Store) Begin(ctx context.Context, start action.Start) (action.Action, error) {
	if start.Lease <= 0 {
		return action.Action{}, verbs.Invalid("lease has no length")
	}
	var a action.Action
	var err error
	switch {
	case start.Resend != nil:
		if err = verbs.Resends(start); err == nil {
			a, err = s.change(ctx, syncFull, func(t *tx) (action.Action, error) { return t.resend(start) })
		}
	case start.Action.Fence == 0:
		a, err = s.beginAllowed(ctx, start)
	default:
		a, err = s.change(ctx, syncFull, func(t *tx) (action.Action, error) { return t.beginClaimed(start) })
	}
	if errors.Is(err, ErrUnknown) {
		if start.Resend != nil {
			start.Action.Fence++
		}
		s.leaveUncertain(ctx, start.Action)
	}
	return a, err
}

func (t *tx) beginClaimed(start action.Start) (action.Action, error) {
	t.settling = true
	row, grant, err := t.beginnable(start.Action)
	if err != nil {
		return row, err
	}
	if err := t.reserve(row, start); err != nil {
		return row, err
	}
	used, late := false, false
	// The unique insert is what makes an approval single use, whatever else
	// goes wrong. Its time is later than every wait for others.
	if err := t.query(func(cur *cursor) error {
		used, late = true, !t.store.later(cur.int(), cur.int()).Before(row.Deadline)
		return nil
	}, `INSERT INTO consumption (digest, tenant, action_id, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING
		RETURNING (SELECT `+realNow+"), (SELECT "+floorSQL+" FROM time_floor)",
		row.Terms.Digest, row.Tenant, row.ID, t.now()); err != nil {
		return action.Action{}, fmt.Errorf("consume approval: %w", err)
	}
	switch {
	case !used:
		return row, action.ErrConsumed
	case late:
		return row, action.ErrLate
	}
	if err := t.spend(row, grant); err != nil {
		return row, err
	}
	m := verbs.BeginUnder(row, t.now(), start, grant)
	return t.carryStarted(row, m, start.Server)
}

// attempted notes the attempt of a row that begins.
func (c *compound) attempted(a action.Action, now time.Time, server canon.Digest) {
	c.with("n", insertAttempt+"SELECT seq, ?::bigint, ?::bigint, ?::text, ?::bigint, ?::bytea FROM a",
		a.Attempt, a.Fence, action.ProviderKey(a.ID, a.Attempt), now, server)
}

// beginAllowed starts a call that policy allowed without an approval:
// decision, claim and commit point in one transaction.
func (s *Store) beginAllowed(ctx context.Context, start action.Start) (action.Action, error) {
	a, err := verbs.Started(start)
	if err != nil {
		return action.Action{}, err
	}
	payload, err := s.seal(a)
	if err != nil {
		return action.Action{}, err
	}
	f := fresh{prospect{action: a, start: true, server: start.Server, limits: start.Limits}, payload, start}
	a, solo, err := s.freshSoon(ctx, &s.starts, f)
	if solo {
		return s.beginOne(ctx, f)
	}
	return a, err
}

func (s *Store) beginOne(ctx context.Context, f fresh) (action.Action, error) {
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		t.settling = true
		p := f.prospect
		if row, err := t.free(&p); err != nil {
			return row, err
		}
		out, err := t.insert(p, f)
		if err != nil {
			return out, err
		}
		return out, t.reserve(out, f.start)
	})
}

// leaveUncertain ends a run that will not be, in case that its commit point
// was committed: sooner than its lease would.
func (s *Store) leaveUncertain(ctx context.Context, a action.Action) {
	_, err := s.Finish(context.WithoutCancel(ctx), action.Ending{ID: a.ID, Fence: max(a.Fence, 1), State: action.Uncertain,
		Result: action.Result{Code: "outcome_uncertain", Detail: "nobody could tell whether the commit point was committed; it was not run"}})
	if err != nil && !verbs.Refusal(err) {
		s.log.Error("a run that was not begun could not be ended; its lease will end it", "action", a.ID, "error", err)
	}
}

// beginnable locks a claimed row and checks everything that must hold at the
// commit point. A refusal comes with the row that is in the way. The grant is
// the one that covers the row, if one does.
func (t *tx) beginnable(a action.Action) (action.Action, *action.StandingGrant, error) {
	row, err := t.lock(a.ID)
	if err != nil {
		return action.Action{}, nil, err
	}
	if err := verbs.MayBegin(row, a, t.now()); err != nil {
		return row, nil, err
	}
	if err := t.sameTimeline(row); err != nil {
		return row, nil, err
	}
	grant, err := t.backed(row, false)
	if err != nil {
		return row, nil, err
	}
	row, err = t.open(row)
	return row, grant, err
}

// sameTimeline: a lease that was taken on another server of the database is
// void here.
func (t *tx) sameTimeline(row action.Action) error {
	if taken, locked := t.taken[row.ID]; !locked || taken != t.session.timeline {
		return action.ErrFence
	}
	return nil
}

// open checks what a new policy, an operator or an uncertain run may have
// closed meanwhile.
func (t *tx) open(row action.Action) (action.Action, error) {
	var uncertain []action.Action
	version, stopped, standbys := "", int64(0), int64(1)
	steps := []step{do(lockGates), versionStep(row.Tenant, row.Tool, &version), stoppedStep(row, &stopped)}
	if row.Mutation {
		steps = append(append(steps, replaces(row)...), t.uncertainStep(row, &uncertain))
	}
	if t.store.opt.RequireSync {
		steps = append(steps, ask(func(cur *cursor) error { standbys = cur.int(); return nil }, standbySQL))
	}
	if err := t.run(steps...); err != nil {
		return action.Action{}, err
	}
	if err := verbs.InForce(row, version); err != nil {
		return row, err
	}
	switch {
	case stopped > 0:
		return row, action.ErrStopped
	case len(uncertain) > 0:
		return uncertain[0], action.ErrUncertain
	case standbys == 0:
		return action.Action{}, ErrNoStandby
	}
	return row, nil
}

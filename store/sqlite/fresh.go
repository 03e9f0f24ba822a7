package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// RejectInput records input that failed before the snapshot.
func (s *Store) RejectInput(ctx context.Context, r action.Rejection) error {
	return s.write(ctx, syncFull, func(t *tx) error {
		return t.record(audit.Record{Event: audit.InputRejected, Tenant: r.Tenant, Tool: r.Tool, Agent: r.Agent,
			By: r.Principal, Code: r.Code}, verbs.Facts{"stage": r.Stage, "size": strconv.Itoa(r.Size)},
			verbs.Secrets{"digest": []byte(r.Digest.String())})
	})
}

// Decide records a decision that starts nothing durable.
func (s *Store) Decide(ctx context.Context, a action.Action) (action.Action, error) {
	switch {
	case a.Fence > 0 && a.Decision.Effect == verbs.EffectDeny:
		return s.void(ctx, a)
	case a.Fence == 0 && a.Decision.Effect == verbs.EffectDeny:
		return s.deny(ctx, a)
	case a.Fence == 0 && a.Decision.Effect == verbs.EffectAllow && !a.Mutation:
		return s.allow(ctx, a)
	default:
		return action.Action{}, verbs.Invalid("decision that would start something")
	}
}

// deny writes a new denied row.
func (s *Store) deny(ctx context.Context, a action.Action) (action.Action, error) {
	a, err := verbs.Denied(a)
	if err != nil {
		return action.Action{}, err
	}
	return s.create(ctx, a)
}

func (s *Store) void(ctx context.Context, a action.Action) (action.Action, error) {
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) { return t.void(a) })
}

// void ends a claimed row as denied.
func (t *tx) void(a action.Action) (action.Action, error) {
	row, err := t.store.load(t.conn, a.ID)
	if err != nil {
		return action.Action{}, err
	}
	m, err := verbs.Void(row, a)
	if err != nil {
		return row, err
	}
	return t.carry(row, m)
}

// Suspend stores a new pending row with its Terms.
func (s *Store) Suspend(ctx context.Context, a action.Action) (action.Action, error) {
	a, err := verbs.Suspended(a)
	if err != nil {
		return action.Action{}, err
	}
	return s.create(ctx, a)
}

// create writes a new row with its key and its record.
func (s *Store) create(ctx context.Context, a action.Action) (action.Action, error) {
	n := &newRow{row: a}
	return n.write(ctx, s, nil, canon.Digest{}, n.insert)
}

// newRow is a row on its way into the database, with what goes with it.
type newRow struct {
	fresh
	row      action.Action
	inTheWay *action.Action // beside a refusal: what is; nil if that is not a row
	job      job
}

// fresh is what goes with a new row. It is made before the transaction, so
// that nobody waits for ciphers and commitments.
type fresh struct {
	sealed
	server canon.Digest
	entry  verbs.Entry
}

// write runs the verb that writes the row.
func (n *newRow) write(ctx context.Context, s *Store, limits []action.Limit, server canon.Digest, run func(*tx) error) (action.Action, error) {
	var err error
	if n.sealed, err = s.seal(&n.row); err != nil {
		return action.Action{}, err
	}
	n.server, n.entry = server, verbs.FreshEntry(&n.row, limits)
	n.job = job{ctx: ctx, level: syncFull, run: run, done: make(chan struct{})}
	switch err := s.do(&n.job); {
	case err == nil:
		return n.row, nil
	case verbs.Refusal(err) && n.inTheWay != nil:
		return *n.inTheWay, err
	default:
		return action.Action{}, err
	}
}

// refused notes the row that comes with a refusal.
func (n *newRow) refused(row action.Action, err error) error {
	if err != nil {
		n.inTheWay = &row
	}
	return err
}

// insert is the verb of a row that begins nothing.
func (n *newRow) insert(t *tx) error {
	n.inTheWay = nil
	if row, err := t.free(&n.row); err != nil {
		return n.refused(row, err)
	}
	return n.begin(t)
}

// begin inserts the row. What stands in its way was looked for before, but
// a row with its id: that comes back with ErrState. It may be called again when
// what it wrote was undone.
func (n *newRow) begin(t *tx) (err error) {
	a := &n.row
	a.CreatedAt, a.UpdatedAt = t.now, t.now
	if on := verbs.ShelfOf(a, t.now); on != n.on { // a day has begun since
		if n.sealed, err = t.store.sealOn(a, on); err != nil {
			return err
		}
	}
	if a.Result != nil {
		a.Result.At = t.now
	}
	number := t.next()
	err = t.insert(a, &n.fresh)
	if errors.Is(err, errKnown) {
		return n.refused(t.known(a))
	}
	if err == nil {
		err = t.claimKey(a)
	}
	if err != nil {
		return err
	}
	n.entry.At = t.now
	a.Leaf, err = t.writeNamed(&n.entry, number)
	return err
}

// free looks for what a new row would collide with. A row with its id comes
// before everything else, but nobody looks for one in vain: if nothing else is
// in the way, the insert meets it.
func (t *tx) free(a *action.Action) (action.Action, error) {
	row, err := t.obstacle(a)
	if err == nil || !verbs.Refusal(err) {
		return row, err
	}
	if same, known := t.known(a); !errors.Is(known, action.ErrNotFound) {
		return same, known
	}
	return row, err
}

// known returns the row that has the id of a new one with ErrState; without
// one it fails with ErrNotFound.
func (t *tx) known(a *action.Action) (action.Action, error) {
	row, err := t.store.load(t.conn, a.ID)
	return row, cmp.Or(err, action.ErrState)
}

// obstacle is what is in the way of a new row beside its id: its key, and for a
// mutation that may run an uncertain row with the same fingerprint.
func (t *tx) obstacle(a *action.Action) (action.Action, error) {
	if row, err := t.keyHolder(a); err != nil {
		return row, err
	}
	if a.State == action.Denied {
		return action.Action{}, nil
	}
	return t.uncertain(a)
}

// keyHolder returns the row that holds the key of a with ErrKeyTaken.
func (t *tx) keyHolder(a *action.Action) (action.Action, error) {
	if a.Key == "" {
		return action.Action{}, nil
	}
	row, err := t.store.byKey(t.conn, a.Tenant, a.Principal, a.Key)
	if errors.Is(err, action.ErrNotFound) {
		return action.Action{}, nil
	}
	if err != nil {
		return action.Action{}, err
	}
	if err := verbs.KeyHeld(row, *a); err != nil {
		return row, err
	}
	return action.Action{}, nil
}

// claimKey binds the key to the row.
func (t *tx) claimKey(a *action.Action) error {
	if !verbs.BindsKey(*a) {
		return nil
	}
	if _, err := t.exec(`INSERT INTO idempotency (tenant, principal, key, action_id, created_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (tenant, principal, key) DO UPDATE SET action_id = excluded.action_id, created_at = excluded.created_at`,
		a.Tenant, a.Principal, a.Key, a.ID, t.now); err != nil {
		return fmt.Errorf("claim key: %w", err)
	}
	return nil
}

// uncertain returns an uncertain row with the same fingerprint, unless a
// supersedes it, itself or through the rows that it supersedes. A row whose
// attempt is being sent again is as uncertain as before, and nothing
// supersedes it while it is.
func (t *tx) uncertain(a *action.Action) (action.Action, error) {
	if !a.Mutation {
		return action.Action{}, nil
	}
	for _, id := range t.store.memory.mayBe(a.Fingerprint, doubtful) {
		row, err := t.store.loadWhere(t.conn, `WHERE a.id = ? AND a.tenant = ? AND a.principal = ? AND a.fingerprint = ?
			AND (a.state = 'uncertain' AND a.id NOT IN (
				WITH RECURSIVE named (id) AS (
					SELECT ? UNION SELECT b.supersedes FROM action b JOIN named n ON b.id = n.id)
				SELECT id FROM named)
			OR a.state = 'executing' AND `+resent+`)`, id, a.Tenant, a.Principal, a.Fingerprint, a.Supersedes)
		if err == nil {
			return row, action.ErrUncertain
		}
		if !errors.Is(err, action.ErrNotFound) {
			return action.Action{}, err
		}
	}
	return action.Action{}, nil
}

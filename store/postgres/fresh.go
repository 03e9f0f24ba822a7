package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

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
		return s.change(ctx, syncFull, func(t *tx) (action.Action, error) { return t.void(a) })
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

// allow records a read or a handoff that may go on. There is no row; the
// record survives the death of the process, its sync is not awaited.
func (s *Store) allow(ctx context.Context, a action.Action) (action.Action, error) {
	if err := verbs.Whole(a); err != nil {
		return action.Action{}, err
	}
	out, solo, err := s.allows.ask(ctx, a)
	if solo {
		return s.allowOne(ctx, a)
	}
	return out, err
}

// void ends a claimed row as denied.
func (t *tx) void(a action.Action) (action.Action, error) {
	row, err := t.lock(a.ID)
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
	payload, err := s.seal(a)
	if err != nil {
		return action.Action{}, err
	}
	f := fresh{prospect: prospect{action: a}, payload: payload}
	a, solo, err := s.freshSoon(ctx, &s.creates, f)
	if solo {
		return s.createOne(ctx, f)
	}
	return a, err
}

func (s *Store) createOne(ctx context.Context, f fresh) (action.Action, error) {
	return s.change(ctx, syncFull, func(t *tx) (action.Action, error) {
		p := f.prospect
		if row, err := t.free(&p); err != nil {
			return row, err
		}
		return t.insert(p, f)
	})
}

// prospect is a new row on its way, with what was asked about it.
type prospect struct {
	action action.Action
	start  bool // it is to begin at once
	server canon.Digest
	limits []action.Limit

	seq      int64
	twins    int64  // rows with its id
	claimed  int64  // 1 where the key was free and is now its own
	doubts   int64  // uncertain rows with its fingerprint
	version  string // of the policy in force
	stopped  int64
	standbys int64
}

// free looks for what a new row would collide with: its id, its key, for a
// mutation that may run an uncertain row with the same fingerprint, and for
// one that begins at once what closes the commit point. The key is claimed on
// the way: of two calls with one key, the second waits here for the first.
func (t *tx) free(p *prospect) (action.Action, error) {
	a := p.action
	if err := t.run(t.questions(p)...); err != nil {
		return action.Action{}, fmt.Errorf("prepare row: %w", err)
	}
	if p.twins > 0 {
		row, err := t.store.loadWhere(t.conn, "WHERE a.id = $1", a.ID)
		if err == nil { // else it is no refusal: the connection may be lost
			err = action.ErrState
		}
		return row, err
	}
	if a.Key != "" && p.claimed == 0 {
		if row, err := t.takeKey(a); err != nil {
			return row, err
		}
	}
	if p.doubts > 0 {
		if row, err := t.doubt(a); err != nil {
			return row, err
		}
	}
	if !p.start {
		return action.Action{}, nil
	}
	if err := verbs.InForce(a, p.version); err != nil {
		return a, err
	}
	if p.stopped > 0 {
		return a, action.ErrStopped
	}
	if t.store.opt.RequireSync && p.standbys == 0 {
		return action.Action{}, ErrNoStandby
	}
	return action.Action{}, nil
}

func (t *tx) questions(p *prospect) []step {
	a := p.action
	var steps []step
	if verbs.BindsKey(a) {
		claim := do(`INSERT INTO idempotency (tenant, principal, key, action_id, created_at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT DO NOTHING`, a.Tenant, a.Principal, a.Key, a.ID, t.store.told())
		claim.n = &p.claimed
		steps = append(steps, claim)
	}
	runs := a.State != action.Denied && a.Mutation
	if runs {
		steps = append(steps, replaces(a)...)
	}
	if p.start {
		steps = append(steps, do(lockGates))
	}
	t.timeAsked()
	steps = append(steps, ask(func(cur *cursor) error {
		t.hear(cur)
		p.seq, p.twins, p.doubts, p.stopped = cur.int(), cur.int(), cur.int(), cur.int()
		digest, epoch := cur.digest(), cur.int()
		p.version = verbs.Version(digest, epoch)
		return nil
	}, questionSQL, a.Tenant, a.Principal, a.Fingerprint, a.Supersedes, a.ID, runs, p.start, a.Agent, a.Tool))
	if p.start && t.store.opt.RequireSync {
		steps = append(steps, ask(func(cur *cursor) error { p.standbys = cur.int(); return nil }, standbySQL))
	}
	return steps
}

// questionSQL asks at once what a new row needs to know, behind the locks that
// keep the answers true: the time, its number, whether its id is taken,
// whether a row like it is uncertain and, where it is to begin, whether it is
// stopped and under which policy.
var questionSQL = "SELECT " + beginColumns + `, nextval('action_seq'), (SELECT count(*) FROM action WHERE id = $5),
	(SELECT count(*) FROM action a WHERE $6::boolean AND ` + doubtful + `),
	(SELECT count(*) FROM stop WHERE $7::boolean AND tenant IN ('', $1) AND agent IN ('', $8) AND tool IN ('', $9)),
	(SELECT digest FROM policy_epoch WHERE tenant = $1 AND tool = $9), (SELECT epoch FROM policy_epoch WHERE tenant = $1 AND tool = $9)
	FROM time_floor`

// takeKey deals with a key that another row holds, or that binds nothing.
// Whoever takes a key over names the holder that it saw, so that of two only
// one does.
func (t *tx) takeKey(a action.Action) (action.Action, error) {
	for {
		row, err := t.store.byKey(t.conn, a.Tenant, a.Principal, a.Key)
		if errors.Is(err, action.ErrNotFound) && !verbs.BindsKey(a) {
			return action.Action{}, nil
		}
		if err != nil {
			return action.Action{}, err
		}
		if err := verbs.KeyHeld(row, a); err != nil {
			return row, err
		}
		n, err := t.exec(`UPDATE idempotency SET action_id = $1, created_at = $2
			WHERE tenant = $3 AND principal = $4 AND key = $5 AND action_id = $6`,
			a.ID, t.now(), a.Tenant, a.Principal, a.Key, row.ID)
		if err != nil || n == 1 {
			return action.Action{}, err
		}
	}
}

// insert writes a new row. What stands in its way was looked for before.
func (t *tx) insert(p prospect, of fresh) (action.Action, error) {
	a := t.fill(p, of.start)
	payload, err := t.shelved(a, of.payload)
	if err != nil {
		return action.Action{}, err
	}
	row := t.insertion(p.seq, a, payload)
	if p.start {
		row.attempted(a, t.now(), p.server)
	}
	r, f, secrets := verbs.FreshRecord(a, p.limits)
	all, err := t.recordOf(row, r, f, secrets)
	if err != nil {
		return action.Action{}, err
	}
	all.fail = func(err error) error {
		var of *pgconn.PgError
		if errors.As(err, &of) && of.Code == uniqueViolation && of.TableName == "action" {
			return fmt.Errorf("%w: %w", action.ErrState, err) // another row got the same id meanwhile
		}
		return fmt.Errorf("insert action: %w", err)
	}
	t.last(all)
	a.Leaf = t.leaf
	return a, nil
}

const uniqueViolation = "23505"

// uncertainStep asks for an uncertain row with the same fingerprint, unless a
// supersedes it, itself or through the rows that it supersedes. A row whose
// attempt is being sent again is as uncertain as before, and nothing
// supersedes it while it is.
func (t *tx) uncertainStep(a action.Action, out *[]action.Action) step {
	return t.store.rows(out, "WHERE "+doubtful+" ORDER BY a.seq + 0 LIMIT 1", a.Tenant, a.Principal, a.Fingerprint, a.Supersedes)
}

var doubtful = doubtfulOf("$1", "$2", "$3", "$4")

func doubtfulOf(tenant, principal, fingerprint, supersedes string) string {
	return inFlight(tenant, principal, fingerprint) + ` AND (a.state = 'uncertain' AND a.id NOT IN (
			WITH RECURSIVE named (id) AS (
				SELECT ` + supersedes + `::text COLLATE "C" UNION SELECT b.supersedes FROM action b JOIN named n ON b.id = n.id)
			SELECT id FROM named)
		OR a.state = 'executing' AND ` + resent + `)`
}

// doubt returns the uncertain row that stands in the way of a.
func (t *tx) doubt(a action.Action) (action.Action, error) {
	var rows []action.Action
	if err := t.run(t.uncertainStep(a, &rows)); err != nil || len(rows) == 0 { // it was settled a moment ago
		return action.Action{}, err
	}
	return rows[0], action.ErrUncertain
}

// lockGates waits for whoever changes rules or turns the freeze switch, and
// keeps them waiting until this transaction has ended: what they acknowledge
// afterwards holds for every later start. Starts do not wait for each other.
const lockGates = "LOCK TABLE policy_epoch, stop IN ROW SHARE MODE"

func versionStep(tenant, tool string, out *string) step {
	return ask(func(cur *cursor) error {
		digest, epoch := cur.digest(), cur.int()
		*out = verbs.Version(digest, epoch)
		return nil
	}, "SELECT digest, epoch FROM policy_epoch WHERE tenant = $1 AND tool = $2", tenant, tool)
}

func stoppedStep(a action.Action, out *int64) step {
	return ask(func(cur *cursor) error { *out = cur.int(); return nil },
		"SELECT count(*) FROM stop WHERE "+covering, a.Tenant, a.Agent, a.Tool)
}

// covering finds the stops of a tenant, an agent and a tool.
const covering = "tenant IN ('', $1) AND agent IN ('', $2) AND tool IN ('', $3)"

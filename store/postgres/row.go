package postgres

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// columns of action, in the order in which scanAction and insertAction go
// through them.
const columns = `a.id, a.kind, a.tenant, a.principal, a.agent, a.owner, a.task, a.grant_id, a.grant_digest, a.tool,
	a.definition, a.mutation, a.high_impact, a.state, a.fence, a.lease_until, a.attempt, a.created_at, a.updated_at,
	a.deadline, a.fingerprint, a.hash, a.targets, a.evidence, a.changes, a.key, a.supersedes, a.caller_gone, a.model,
	a.call_id, a.effect, a.code, a.reason, a.public_reason, a.result_mode, a.policy_version, a.rules,
	a.ended_at, a.end_error, a.end_evidence, a.end_code, a.end_detail, a.end_comparison, a.erased_at,
	p.raw, p.requested, p.args, p.preview, p.facts, p.result,
	t.requirements, t.pending_until, t.ttl, t.step_up, t.nonce, t.requested_at, t.expires_at, t.preview, t.digest`

const selectAction = "SELECT " + columns + fromAction

const fromAction = ` FROM action a LEFT JOIN payload p ON p.action_seq = a.seq
	LEFT JOIN approval t ON t.tenant = a.tenant AND t.action_id = a.id `

const (
	insertSQL = insertInto + `
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
	$25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42)`
	insertInto = `INSERT INTO action (seq, id, kind, tenant, principal, agent, owner, task, grant_id, grant_digest, tool, definition, mutation,
	high_impact, state, fence, lease_until, attempt, created_at, updated_at, deadline, fingerprint, hash, targets,
	evidence, changes, key, supersedes, caller_gone, model, call_id, effect, code, reason, public_reason,
	result_mode, policy_version, rules, process, ended_at, end_code, timeline) `
	insertPayload = "INSERT INTO payload (action_seq, raw, requested, args, preview, facts) "
	insertTerms   = "INSERT INTO approval (tenant, action_id, requirements, pending_until, ttl, step_up, nonce, requested_at, expires_at, preview, digest) "
	insertAttempt = "INSERT INTO attempt (action_seq, attempt, fence, provider_key, started_at, server) "
)

// sealed is a payload on its way into the database. It is made before the
// transaction, so that no lock waits for ciphers.
type sealed struct {
	raw, requested, args, preview, facts []byte
	on                                   keys.Shelf
}

func (s sealed) size() int {
	return len(s.raw) + len(s.requested) + len(s.args) + len(s.preview) + len(s.facts)
}

// Names of the sealed fields; they are bound into what is sealed.
const (
	fieldRaw       = "raw"
	fieldRequested = "requested"
	fieldArgs      = "args"
	fieldPreview   = "preview"
	fieldFacts     = "facts"
	fieldResult    = "result"
)

// seal seals the payload of a new row for the day that it most probably is.
func (s *Store) seal(a action.Action) (sealed, error) {
	a.CreatedAt = s.told()
	return s.sealOn(a, verbs.Shelf(a))
}

func (s *Store) sealOn(a action.Action, on keys.Shelf) (sealed, error) {
	out := sealed{on: on}
	box := s.opt.Sealer.Row(a.Tenant, a.ID, on)
	for _, f := range []struct {
		to    *[]byte
		field string
		plain []byte
	}{
		{&out.raw, fieldRaw, a.Payload.Raw}, {&out.requested, fieldRequested, []byte(a.Payload.Requested)},
		{&out.args, fieldArgs, []byte(a.Payload.Args)}, {&out.preview, fieldPreview, []byte(a.Payload.Preview)},
		{&out.facts, fieldFacts, []byte(a.Payload.Facts)},
	} {
		b, err := box.Seal(f.field, f.plain)
		if err != nil {
			return sealed{}, fmt.Errorf("seal %s: %w", f.field, err)
		}
		*f.to = b
	}
	return out, nil
}

// values of a new row, in the order of insertInto.
func (t *tx) values(seq int64, a action.Action) []any {
	end := ""
	if a.Result != nil {
		end = a.Result.Code
	}
	ended := time.Time{}
	if a.State.Terminal() {
		ended = t.now()
	}
	return []any{seq, a.ID, string(a.Kind), a.Tenant, a.Principal, a.Agent, a.Owner, a.Task, a.GrantID,
		a.GrantDigest, a.Tool, a.Definition, a.Mutation, a.HighImpact, string(a.State), a.Fence, a.LeaseUntil, a.Attempt,
		a.CreatedAt, a.UpdatedAt, a.Deadline, a.Fingerprint, canon.Digest(a.Hash), verbs.TargetsText(a.Targets),
		verbs.EvidenceText(a.Evidence), verbs.ChangesText(a.Changes), a.Key, a.Supersedes, a.CallerGone, a.Model, a.CallID,
		a.Decision.Effect, a.Decision.Code, a.Decision.Reason, a.Decision.PublicReason, a.Decision.ResultMode,
		a.Decision.PolicyVersion, verbs.ListText(a.Decision.Rules), t.store.process, ended, end, t.session.timeline}
}

func termsValues(a action.Action) []any {
	terms := *a.Terms
	return []any{a.Tenant, a.ID, verbs.RequirementsText(terms.Requirements), terms.PendingUntil, int64(terms.TTL), terms.StepUp,
		terms.Nonce, terms.RequestedAt, terms.ExpiresAt, terms.Preview, terms.Digest}
}

// insertion begins the statement that writes a new row with its payload and
// terms.
func (t *tx) insertion(seq int64, a action.Action, p sealed) *compound {
	c := compose(insertSQL, t.values(seq, a)...)
	c.with("p", insertPayload+"SELECT seq, ?::bytea, ?::bytea, ?::bytea, ?::bytea, ?::bytea FROM a", p.raw, p.requested, p.args, p.preview, p.facts)
	if a.Terms != nil {
		c.with("t", insertTerms+`SELECT ?::text, ?::text, ?::text, ?::bigint, ?::bigint, ?::boolean, ?::text, ?::bigint, ?::bigint, ?::bytea, ?::bytea FROM a`,
			termsValues(a)...)
	}
	return c
}

// lock waits for the row, keeps others from moving it, and reads it as it then
// is; ErrNotFound if there is none.
func (t *tx) lock(id string) (action.Action, error) {
	var rows []action.Action
	found, reserved := false, int64(0)
	t.timeAsked()
	hold := ask(func(*cursor) error { found = true; return nil }, holdSQL, id)
	// Two statements: only what a statement begins after the lock is sure to
	// be what the last holder left, and only its time is later than the wait. A
	// row that came between the two is seen by the second and locked by
	// neither, so it is not there yet.
	err := t.run(hold, ask(func(cur *cursor) error {
		t.hear(cur)
		a, err := t.store.scanAction(cur)
		rows, reserved = append(rows, a), cur.int()
		t.taken = map[string]int64{a.ID: cur.int()}
		return err
	}, heldSQL, id))
	if !found {
		rows = nil
	}
	if err == nil && found && reserved == 0 {
		t.unreserved = id
	}
	return first(rows, err)
}

const (
	holdSQL = "SELECT 1 FROM action WHERE id = $1 FOR UPDATE OF action"
	heldSQL = "SELECT " + beginColumns + ", " + columns + heldToo + fromAction + "CROSS JOIN time_floor WHERE a.id = $1"
	heldToo = ", (SELECT count(*) FROM reservation r WHERE r.action_id = a.id AND r.state = 'reserved'), a.timeline"
)

func first(rows []action.Action, err error) (action.Action, error) {
	if err != nil {
		return action.Action{}, err
	}
	if len(rows) == 0 {
		return action.Action{}, action.ErrNotFound
	}
	return rows[0], nil
}

// rows is the question for rows, with where to put them.
func (s *Store) rows(out *[]action.Action, where string, args ...any) step {
	return ask(func(cur *cursor) error {
		a, err := s.scanAction(cur)
		if err != nil {
			return err
		}
		*out = append(*out, a)
		return nil
	}, selectAction+where, args...)
}

func (s *Store) list(c *conn, where string, args ...any) ([]action.Action, error) {
	var out []action.Action
	err := c.run(s.rows(&out, where, args...))
	return out, err
}

func (s *Store) loadWhere(c *conn, where string, args ...any) (action.Action, error) {
	return first(s.list(c, where, args...))
}

func (s *Store) scanAction(c *cursor) (action.Action, error) {
	a := action.Action{ID: c.text(), Kind: action.Kind(c.text()), Tenant: c.text(), Principal: c.text(), Agent: c.text(),
		Owner: c.text(), Task: c.text(), GrantID: c.text(), GrantDigest: c.digest(), Tool: c.text(), Definition: c.digest(),
		Mutation: c.bool(), HighImpact: c.bool(), State: action.State(c.text()), Fence: c.int(), LeaseUntil: c.time(),
		Attempt: int(c.int()), CreatedAt: c.time(), UpdatedAt: c.time(), Deadline: c.time(), Fingerprint: c.digest(),
		Hash: snapshot.ProposalHash(c.digest())}
	targets, evidence, changes := c.text(), c.text(), c.text()
	a.Key, a.Supersedes, a.CallerGone, a.Model, a.CallID = c.text(), c.text(), c.bool(), c.text(), c.text()
	a.Decision = action.Decision{Effect: c.text(), Code: c.text(), Reason: c.text(), PublicReason: c.text(),
		ResultMode: c.text(), PolicyVersion: c.text()}
	rules := c.text()
	err := errors.Join(
		verbs.ParseTargets(targets, &a.Targets), verbs.ParseEvidence(evidence, &a.Evidence), verbs.ParseChanges(changes, &a.Changes),
		verbs.ParseList(rules, &a.Decision.Rules))
	ended := c.time()
	result := action.Result{IsError: c.bool(), Evidence: c.text(), Code: c.text(), Detail: c.text(), Comparison: c.text(),
		At: ended}
	a.ErasedAt = c.time()
	err = errors.Join(err, s.scanPayload(c, &a, &result))
	if !ended.IsZero() {
		a.Result = &result
	}
	err = errors.Join(err, scanTerms(c, &a), c.err)
	if !a.ErasedAt.IsZero() {
		a = verbs.WithoutPayload(a, a.ErasedAt)
	}
	if err == nil {
		err = verbs.Verify(a)
	}
	if err != nil {
		return action.Action{}, fmt.Errorf("action %s: %w", a.ID, err)
	}
	return a, nil
}

func (s *Store) scanPayload(c *cursor, a *action.Action, result *action.Result) error {
	fields := []string{fieldRaw, fieldRequested, fieldArgs, fieldPreview, fieldFacts, fieldResult}
	plain := make([][]byte, len(fields))
	box := s.opt.Sealer.Row(a.Tenant, a.ID, verbs.Shelf(*a))
	var errs []error
	for i, field := range fields {
		b := c.blob()
		if b == nil {
			continue
		}
		text, err := box.Open(field, b)
		if errors.Is(err, keys.ErrErased) && a.State.Terminal() {
			a.ErasedAt = verbs.KeyGone(*a) // a backup that was put back still had it
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w: %w", field, verbs.ErrTampered, err))
		}
		if len(text) > 0 {
			plain[i] = text
		}
	}
	a.Payload = action.Payload{Raw: plain[0], Requested: string(plain[1]), Args: string(plain[2]), Preview: string(plain[3]),
		Facts: string(plain[4])}
	result.Output = plain[5]
	return errors.Join(errs...)
}

func scanTerms(c *cursor, a *action.Action) error {
	requirements := c.text()
	terms := action.Terms{PendingUntil: c.time(), TTL: time.Duration(c.int()), StepUp: c.bool(), Nonce: c.text(),
		RequestedAt: c.time(), ExpiresAt: c.time(), Preview: c.digest(), Digest: c.digest()}
	if terms.Nonce == "" { // no row of terms: they always have a nonce
		return nil
	}
	a.Terms = &terms
	return verbs.ParseRequirements(requirements, &terms.Requirements)
}

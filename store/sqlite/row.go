package sqlite

import (
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"

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
	coalesce(a.raw, p.raw), coalesce(a.requested, p.requested), coalesce(a.args, p.args), coalesce(a.preview, p.preview),
	coalesce(a.facts, p.facts), coalesce(a.result, p.result),
	t.requirements, t.pending_until, t.ttl, t.step_up, t.nonce, t.requested_at, t.expires_at, t.preview, t.digest`

const selectAction = "SELECT " + columns + ` FROM action a LEFT JOIN payload p ON p.action_seq = a.seq
	LEFT JOIN approval t ON t.action_id = a.id `

const insertSQL = `INSERT OR FAIL INTO action (id, kind, tenant, principal, agent, owner, task, grant_id, grant_digest, tool,
	definition, mutation, high_impact, state, fence, lease_until, attempt, created_at, updated_at, deadline, fingerprint,
	hash, targets, evidence, changes, key, supersedes, caller_gone, model, call_id, effect, code, reason, public_reason,
	result_mode, policy_version, rules, process, ended_at, end_code, server, swift, raw,
	requested, args, preview, facts, first_record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
	?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// insertColumns is how many columns insertSQL writes.
const insertColumns = 48

// sealed is a payload on its way into the database. It is made before the
// transaction, so that the writing goroutine does not wait for ciphers.
type sealed struct {
	raw, requested, args, preview, facts []byte
	on                                   keys.Shelf
	box                                  *keys.RowSealer
}

// What is longer than this stands beside the row and not in it, in bytes: a row
// is written again with each of its moves.
const (
	maxInline = 2 << 10 // of all that was proposed
	maxOutput = 1 << 10 // of a result
)

// inline splits a payload into what stands in the row and what beside it. One
// of them is empty.
func (p sealed) inline() (in, beside sealed) {
	if len(p.raw)+len(p.requested)+len(p.args)+len(p.preview)+len(p.facts) > maxInline {
		return sealed{}, p
	}
	return p, sealed{}
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
func (s *Store) seal(a *action.Action) (sealed, error) {
	return s.sealOn(a, verbs.ShelfOf(a, s.present()))
}

func (s *Store) sealOn(a *action.Action, on keys.Shelf) (sealed, error) {
	p := &a.Payload
	box := s.opt.Sealer.Row(a.Tenant, a.ID, on)
	out := sealed{on: on, box: box}
	var err error
	if out.raw, err = box.Seal(fieldRaw, p.Raw); err != nil {
		return sealed{}, fmt.Errorf("seal %s: %w", fieldRaw, err)
	}
	// The others share their memory.
	all := make([]byte, 0, len(p.Requested)+len(p.Args)+len(p.Preview)+len(p.Facts)+4*keys.SealedSize(0))
	for _, f := range [...]struct {
		to           *[]byte
		field, plain string
	}{
		{&out.requested, fieldRequested, p.Requested}, {&out.args, fieldArgs, p.Args}, {&out.preview, fieldPreview, p.Preview},
		{&out.facts, fieldFacts, p.Facts},
	} {
		begin := len(all)
		if all, err = box.AppendSeal(all, f.field, f.plain); err != nil {
			return sealed{}, fmt.Errorf("seal %s: %w", f.field, err)
		}
		*f.to = all[begin:len(all):len(all)]
	}
	return out, nil
}

// errKnown is returned for a new row whose id another one has: nothing else
// of a row is unique.
var errKnown = errors.New("a row with this id is there")

// insert writes a new row with its payload and terms, and where it is sent to
// if it begins at once.
func (t *tx) insert(a *action.Action, p *fresh) error {
	in, beside := p.inline()
	if err := t.insertRow(a, p.server, in); err != nil {
		if errors.Is(err, sqlite3.CONSTRAINT_UNIQUE) {
			return errKnown
		}
		return fmt.Errorf("insert action: %w", err)
	}
	t.seq = t.db.LastInsertRowID()
	if beside.box != nil {
		if _, err := t.exec("INSERT INTO payload (action_seq, raw, requested, args, preview, facts) VALUES (?, ?, ?, ?, ?, ?)",
			t.seq, p.raw, p.requested, p.args, p.preview, p.facts); err != nil {
			return fmt.Errorf("insert payload: %w", err)
		}
	}
	t.opened(a)
	if a.Terms == nil {
		return nil
	}
	return t.insertTerms(a.ID, *a.Terms)
}

// insertRow binds the columns in the order of insertSQL.
func (t *tx) insertRow(a *action.Action, server canon.Digest, in sealed) error {
	b, err := t.binding(insertSQL, insertColumns)
	if err != nil {
		return err
	}
	texts := func(all ...string) {
		for _, v := range all {
			b.text(v)
		}
	}
	times := func(all ...time.Time) {
		for _, v := range all {
			b.time(v)
		}
	}
	end, ended, d := "", time.Time{}, &a.Decision
	if a.Result != nil {
		end = a.Result.Code
	}
	if a.State.Terminal() {
		ended = t.now
	}
	texts(a.ID, string(a.Kind), a.Tenant, a.Principal, a.Agent, a.Owner, a.Task, a.GrantID)
	b.digest(a.GrantDigest)
	b.text(a.Tool)
	b.digest(a.Definition)
	b.bool(a.Mutation)
	b.bool(a.HighImpact)
	b.text(string(a.State))
	b.int(a.Fence)
	b.time(a.LeaseUntil)
	b.int(int64(a.Attempt))
	times(a.CreatedAt, a.UpdatedAt, a.Deadline)
	b.digest(a.Fingerprint)
	b.digest(canon.Digest(a.Hash))
	texts(verbs.TargetsText(a.Targets), verbs.EvidenceText(a.Evidence), verbs.ChangesText(a.Changes), a.Key, a.Supersedes)
	b.bool(a.CallerGone)
	texts(a.Model, a.CallID, d.Effect, d.Code, d.Reason, d.PublicReason, d.ResultMode, d.PolicyVersion, verbs.ListText(d.Rules), t.store.process)
	b.time(ended)
	b.text(end)
	b.digest(server)
	b.bool(a.State == action.Executing)
	for _, v := range [...][]byte{in.raw, in.requested, in.args, in.preview, in.facts} {
		b.blob(v)
	}
	b.int(t.next())
	return b.exec()
}

func (t *tx) insertTerms(id string, terms action.Terms) error {
	_, err := t.exec(`INSERT INTO approval (action_id, requirements, pending_until, ttl, step_up, nonce, requested_at,
		expires_at, preview, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, verbs.RequirementsText(terms.Requirements), terms.PendingUntil, int64(terms.TTL), terms.StepUp, terms.Nonce,
		terms.RequestedAt, terms.ExpiresAt, terms.Preview, terms.Digest)
	if err != nil {
		return fmt.Errorf("insert terms: %w", err)
	}
	return nil
}

// load reads one row by its id; ErrNotFound if there is none.
func (s *Store) load(c *conn, id string) (action.Action, error) {
	return s.loadWhere(c, "WHERE a.id = ?", id)
}

func (s *Store) loadWhere(c *conn, where string, args ...any) (action.Action, error) {
	rows, err := s.list(c, where, args...)
	if err != nil {
		return action.Action{}, err
	}
	if len(rows) == 0 {
		return action.Action{}, action.ErrNotFound
	}
	return rows[0], nil
}

func (s *Store) list(c *conn, where string, args ...any) ([]action.Action, error) {
	var out []action.Action
	err := c.query(func(cur *cursor) error {
		a, err := s.scanAction(cur)
		if err != nil {
			return err
		}
		out = append(out, a)
		return nil
	}, selectAction+where, args...)
	return out, err
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

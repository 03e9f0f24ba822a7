package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// fresh is a new row that may be written together with those of others.
type fresh struct {
	prospect prospect
	payload  sealed
	start    action.Start // of one that begins at once
}

type freshTurn = turn[fresh, action.Action]

// errNobody: none of those who came together can be served together.
var errNobody = errors.New("nobody is left")

// together reports whether a new row can share a transaction with others: one
// that locks another row, takes from limits or is large would have them wait.
func (f fresh) together() bool {
	return f.prospect.action.Supersedes == "" && len(f.prospect.limits) == 0 && f.payload.size() <= maxShared
}

// freshSoon has a new row written with those of others who wait, or says that
// it has to be written alone.
func (s *Store) freshSoon(ctx context.Context, in *crowd[fresh, action.Action], f fresh) (a action.Action, solo bool, err error) {
	if !f.together() {
		return a, true, nil
	}
	return in.ask(ctx, f)
}

// serveFresh writes new rows in one transaction. Whatever is in the way of one
// row, or of all, sends it to its caller, who then goes alone and finds out:
// nobody is refused for what others asked.
func (s *Store) serveFresh(turns []*freshTurn) {
	if len(turns) == 1 {
		s.aloneInTurn(turns[0])
		return
	}
	var done []*freshTurn
	err := s.shared(turns[0].ctx, syncFull, func(t *tx) (err error) {
		done, err = t.freshMany(withoutTwins(turns))
		return err
	})
	settleTurns(turns, done, err)
}

// shared runs a transaction of many, once: those for whom it fails try again
// alone.
func (s *Store) shared(ctx context.Context, wait bool, fn func(*tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), verbTimeout)
	defer cancel()
	return s.attempt(ctx, wait, fn)
}

// settleTurns tells those whose rows were written, or may have been, and has
// the others go alone.
func settleTurns[In any](all, done []*turn[In, action.Action], err error) {
	for _, t := range all {
		t.solo = true
	}
	for _, t := range done {
		switch {
		case err == nil:
			t.solo = false
		case errors.Is(err, ErrUnknown):
			t.solo, t.out, t.err = false, action.Action{}, err
		}
	}
}

// aloneInTurn serves somebody with whom nobody waits.
func (s *Store) aloneInTurn(t *freshTurn) {
	if t.in.prospect.start {
		t.out, t.err = s.beginOne(t.ctx, t.in)
	} else {
		t.out, t.err = s.createOne(t.ctx, t.in)
	}
}

// withoutTwins leaves out rows whose key or id another row of the same crowd
// asks for too.
func withoutTwins(turns []*freshTurn) (out []*freshTurn) {
	type scope struct{ tenant, principal, key string }
	seen := map[scope]bool{}
	ids := map[string]bool{}
	for _, t := range turns {
		a := t.in.prospect.action
		key := scope{a.Tenant, a.Principal, a.Key}
		if a.Key != "" && seen[key] || ids[a.ID] {
			continue
		}
		seen[key], ids[a.ID] = true, true
		out = append(out, t)
	}
	return out
}

// freshMany asks about all rows at once, and writes those that nothing is in
// the way of.
func (t *tx) freshMany(turns []*freshTurn) ([]*freshTurn, error) {
	t.settling = turns[0].in.prospect.start
	answers := make([]answer, len(turns))
	steps := append([]step{do(planOnce)}, t.claimKeys(turns, answers)...)
	if t.settling {
		steps = append(steps, do(lockGates))
	}
	t.timeAsked()
	steps = append(steps, t.questionMany(turns, answers))
	standbys := int64(1)
	if t.settling && t.store.opt.RequireSync {
		steps = append(steps, ask(func(cur *cursor) error { standbys = cur.int(); return nil }, standbySQL))
	}
	if err := t.run(steps...); err != nil {
		return nil, err
	}
	if standbys == 0 {
		return nil, ErrNoStandby
	}
	var done []*freshTurn
	for i, turn := range turns {
		switch of := answers[i]; {
		case of.clear && (of.claimed || !verbs.BindsKey(turn.in.prospect.action)):
			turn.in.prospect.seq = of.seq
			done = append(done, turn)
		case of.claimed: // its key must not stay claimed
			return nil, errNobody
		}
	}
	if len(done) == 0 {
		return nil, errNobody
	}
	return done, t.insertMany(done)
}

// answer is what the database says of one of many new rows.
type answer struct {
	clear   bool // nothing is in its way
	claimed bool // its key is its own now
	seq     int64
}

// claimKeys claims the keys of many rows, in one order, so that of two crowds
// each waits for the other only one way.
func (t *tx) claimKeys(turns []*freshTurn, answers []answer) []step {
	keyed, places := sheetOf("text", "text", "text", "text", "bigint"), map[string]int{}
	for i, turn := range turns {
		if a := turn.in.prospect.action; verbs.BindsKey(a) {
			keyed.add(a.Tenant, a.Principal, a.Key, a.ID, t.store.told())
			places[a.ID] = i
		}
	}
	if keyed.empty() {
		return nil
	}
	c := &compound{}
	c.text.WriteString("INSERT INTO idempotency (tenant, principal, key, action_id, created_at) SELECT * FROM " + c.from(keyed) +
		" ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING RETURNING action_id")
	return []step{ask(func(cur *cursor) error {
		answers[places[cur.text()]].claimed = true
		return nil
	}, c.text.String(), c.args...)}
}

// questionMany asks what [questionSQL] asks, for every row.
func (t *tx) questionMany(turns []*freshTurn, answers []answer) step {
	rows := sheetOf("text", "text", "bytea", "text", "boolean", "boolean", "text", "text", "text")
	for _, turn := range turns {
		p := turn.in.prospect
		a := p.action
		rows.add(a.Tenant, a.Principal, a.Fingerprint, a.ID, a.State != action.Denied && a.Mutation, p.start, a.Agent, a.Tool, a.Key)
	}
	c := &compound{}
	c.write(manyQuestions+c.from(rows)+manyQuestionsOf, nil)
	return ask(func(cur *cursor) error {
		t.hear(cur)
		i, seq, inTheWay := cur.int()-1, cur.int(), cur.int()
		digest, epoch := cur.digest(), cur.int()
		p := turns[i].in.prospect
		answers[i].clear = inTheWay == 0 && (!p.start || verbs.InForce(p.action, verbs.Version(digest, epoch)) == nil)
		answers[i].seq = seq
		return nil
	}, c.text.String(), c.args...)
}

// manyQuestions is questionSQL for many rows. Each part of it looks one row up
// by its key, whatever the planner thinks of the size of the tables.
var manyQuestions = "SELECT " + beginColumns + `, u.n, nextval('action_seq'), (SELECT count(*) FROM action WHERE id = u.id)
	+ (SELECT count(*) FROM action a WHERE u.runs AND ` +
	doubtfulOf("u.tenant", "u.principal", "u.fingerprint", "''") + `)
	+ (SELECT count(*) FROM stop WHERE u.starts AND tenant IN ('', u.tenant) AND agent IN ('', u.agent) AND tool IN ('', u.tool))
	+ (SELECT count(*) FROM idempotency i WHERE i.tenant = u.tenant AND i.principal = u.principal AND i.key = u.key AND i.action_id <> u.id),
	(SELECT digest FROM policy_epoch WHERE tenant = u.tenant AND tool = u.tool), (SELECT epoch FROM policy_epoch WHERE tenant = u.tenant AND tool = u.tool)
	FROM time_floor, `

const manyQuestionsOf = ` WITH ORDINALITY AS u (tenant, principal, fingerprint, id, runs, starts, agent, tool, key, n)`

// insertMany writes new rows with all that goes with them, in one statement.
func (t *tx) insertMany(turns []*freshTurn) error {
	rows := sheetOf(actionKinds...)
	payloads := sheetOf("bigint", "bytea", "bytea", "bytea", "bytea", "bytea")
	terms := sheetOf("text", "text", "text", "bigint", "bigint", "boolean", "text", "bigint", "bigint", "bytea", "bytea")
	attempts := sheetOf("bigint", "bigint", "bigint", "text", "bigint", "bytea")
	records := newRecords()
	for _, turn := range turns {
		p := turn.in.prospect
		a := t.fill(p, turn.in.start)
		s, err := t.shelved(a, turn.in.payload)
		if err != nil {
			return err
		}
		rows.add(t.values(p.seq, a)...)
		payloads.add(p.seq, s.raw, s.requested, s.args, s.preview, s.facts)
		if a.Terms != nil {
			terms.add(termsValues(a)...)
		}
		if p.start {
			attempts.add(p.seq, a.Attempt, a.Fence, action.ProviderKey(a.ID, a.Attempt), t.now(), p.server)
		}
		r, f, secrets := verbs.FreshRecord(a, nil)
		if err := records.add(t, r, f, secrets); err != nil {
			return err
		}
		a.Leaf = t.leaf
		turn.out = a
	}
	c := &compound{}
	c.text.WriteString("WITH a AS (" + insertInto + "SELECT * FROM " + c.from(rows) + ")")
	for _, part := range []struct {
		name, into string
		rows       *sheet
	}{
		{"p", insertPayload, payloads}, {"t", insertTerms, terms}, {"n", insertAttempt, attempts},
	} {
		if !part.rows.empty() {
			c.text.WriteString(", " + part.name + " AS (" + part.into + "SELECT * FROM " + c.from(part.rows) + ")")
		}
	}
	t.last(records.write(c))
	return nil
}

// fill completes a new row by what the transaction knows.
func (t *tx) fill(p prospect, start action.Start) action.Action {
	a := p.action
	a.CreatedAt, a.UpdatedAt = t.now(), t.now()
	if a.Result != nil {
		result := *a.Result
		result.At = t.now()
		a.Result = &result
	}
	if p.start {
		a.LeaseUntil = t.now().Add(start.Lease)
	}
	return a
}

// shelved is a payload as it is sealed on the day of the transaction.
func (t *tx) shelved(a action.Action, s sealed) (sealed, error) {
	if on := verbs.Shelf(a); on != s.on { // a day has begun since
		return t.store.sealOn(a, on)
	}
	return s, nil
}

// actionKinds are the kinds of the columns of insertInto.
var actionKinds = strings.Fields(`bigint text text text text text text text text bytea text bytea boolean
	boolean text bigint bigint bigint bigint bigint bigint bytea bytea text
	text text text text boolean text text text text text text
	text text text text bigint text bigint`)

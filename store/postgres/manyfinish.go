package postgres

import (
	"strings"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

type endTurn = turn[action.Ending, action.Action]

// serveEnds ends runs in one transaction. A row that somebody else has locked,
// that holds of a limit, or whose end is refused goes alone.
func (s *Store) serveEnds(turns []*endTurn) {
	if len(turns) == 1 {
		turns[0].out, turns[0].err = s.finishOne(turns[0].ctx, turns[0].in)
		return
	}
	var done []*endTurn
	err := s.shared(turns[0].ctx, syncFull, func(t *tx) (err error) {
		done, err = t.finishMany(turns)
		return err
	})
	settleTurns(turns, done, err)
}

// ended is one row of many that end.
type ended struct {
	turn *endTurn
	row  action.Action
	to   action.Action
	move verbs.Move
}

func (t *tx) finishMany(turns []*endTurn) ([]*endTurn, error) {
	rows, err := t.lockMany(turns)
	if err != nil {
		return nil, err
	}
	var ends []ended
	var done []*endTurn
	for _, turn := range turns {
		row, locked := rows[turn.in.ID]
		if !locked {
			continue
		}
		delete(rows, row.ID) // who ends it a second time goes alone
		m, err := verbs.Finish(row, turn.in)
		if err != nil || !action.CanMove(row.State, m.To.State) {
			continue
		}
		ends = append(ends, ended{turn, row, t.moved(m), m})
		done = append(done, turn)
	}
	if len(ends) == 0 {
		return nil, errNobody
	}
	return done, t.endMany(ends)
}

// plainly has the planner of this transaction look rows up by their keys. It
// plans a statement once for all its executions, and may do so while a table
// is so small that reading all of it seems as good.
const plainly = planOnce + `, set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
	set_config('enable_mergejoin', 'off', true), set_config('enable_material', 'off', true)`

// lockMany locks the rows that nobody else has locked, and reads those that
// hold nothing of any limit.
func (t *tx) lockMany(turns []*endTurn) (map[string]action.Action, error) {
	ids := make([]string, len(turns))
	for i, turn := range turns {
		ids[i] = turn.in.ID
	}
	locked, rows := map[string]bool{}, map[string]action.Action{}
	t.timeAsked()
	err := t.run(do(plainly), ask(func(cur *cursor) error {
		t.hear(cur)
		locked[cur.text()] = true
		return nil
	}, "SELECT "+beginColumns+", a.id FROM action a, time_floor WHERE a.id = ANY ($1::text[]) FOR UPDATE OF a SKIP LOCKED", ids),
		ask(func(cur *cursor) error {
			a, err := t.store.scanAction(cur)
			if reserved := cur.int(); err == nil && reserved == 0 && locked[a.ID] {
				rows[a.ID] = a
			}
			return nil // whoever reads it alone will see what is wrong with it
		}, "SELECT "+columns+heldToo+fromAction+"WHERE a.id = ANY ($1::text[]) AND "+small, ids, maxShared))
	return rows, err
}

// small holds for rows whose payload is at most $2 bytes; many large ones at
// once would fill the memory.
const small = `coalesce(octet_length(p.raw), 0) + coalesce(octet_length(p.requested), 0) + coalesce(octet_length(p.args), 0)
	+ coalesce(octet_length(p.preview), 0) + coalesce(octet_length(p.facts), 0) + coalesce(octet_length(p.result), 0) <= $2::bigint`

// endColumns are the columns that the end of a run changes, each with its
// kind.
var endColumns = [][2]string{{"state", "text"}, {"fence", "bigint"}, {"lease_until", "bigint"}, {"attempt", "bigint"},
	{"updated_at", "bigint"}, {"deadline", "bigint"}, {"caller_gone", "boolean"}, {"effect", "text"}, {"code", "text"},
	{"reason", "text"}, {"public_reason", "text"}, {"result_mode", "text"}, {"policy_version", "text"}, {"rules", "text"},
	{"process", "text"}, {"timeline", "bigint"}, {"ended_at", "bigint"}, {"end_error", "boolean"}, {"end_evidence", "text"},
	{"end_code", "text"}, {"end_detail", "text"}, {"end_comparison", "text"}}

// endMany writes many ends, each by compare-and-swap as [tx.carry] does.
func (t *tx) endMany(ends []ended) error {
	kinds, sets, names := []string{}, []string{}, []string{}
	for _, c := range endColumns {
		kinds, sets, names = append(kinds, c[1]), append(sets, c[0]+" = u."+c[0]), append(names, c[0])
	}
	rows := sheetOf(append(kinds, "text", "text", "bigint")...)
	outputs, attempts, records := sheetOf("text", "bytea"), sheetOf("text", "bigint", "text", "bigint"), newRecords()
	for _, e := range ends {
		output, err := t.sealOutput(e.to)
		if err != nil {
			return err
		}
		if output != nil || e.to.State == action.Succeeded {
			outputs.add(e.row.ID, output)
		}
		if e.row.State == action.Executing {
			attempts.add(e.row.ID, t.now(), string(e.to.State), e.to.Attempt)
		}
		rows.add(t.saved(e.row, e.to)...)
		if err := records.add(t, e.move.Record, e.move.Facts, e.move.Secrets); err != nil {
			return err
		}
		e.to.Leaf = t.leaf
		e.turn.out = e.to
	}
	c := &compound{}
	c.text.WriteString("WITH a AS (UPDATE action x SET " + strings.Join(sets, ", ") + " FROM " + c.from(rows) + " AS u (" +
		strings.Join(names, ", ") + ", from_id, from_state, from_fence) WHERE x.id = u.from_id AND x.state = u.from_state AND x.fence = u.from_fence RETURNING x.seq, x.id)")
	if !outputs.empty() {
		c.text.WriteString(", p AS (UPDATE payload SET result = u.result FROM a JOIN " + c.from(outputs) +
			" AS u (id, result) ON u.id = a.id WHERE action_seq = a.seq AND (u.result IS NOT NULL OR payload.result IS NOT NULL))")
	}
	if !attempts.empty() {
		c.text.WriteString(", n AS (UPDATE attempt n SET ended_at = u.ended_at, outcome = u.outcome FROM a JOIN " + c.from(attempts) +
			" AS u (id, ended_at, outcome, attempt) ON u.id = a.id WHERE n.action_seq = a.seq AND n.attempt = u.attempt)")
	}
	t.last(records.writeWhere(c, "SELECT id FROM a"))
	return nil
}

// sealOutput seals what a tool answered; nil where it answered nothing.
func (t *tx) sealOutput(a action.Action) ([]byte, error) {
	if a.Result == nil || len(a.Result.Output) == 0 {
		return nil, nil
	}
	return t.store.opt.Sealer.Seal(keys.Place{Tenant: a.Tenant, Row: a.ID, Field: fieldResult, Shelf: verbs.Shelf(a)}, a.Result.Output)
}

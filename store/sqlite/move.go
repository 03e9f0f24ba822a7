package sqlite

import (
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/keys"
)

const saveSQL = `UPDATE action SET state = ?, fence = ?, lease_until = ?, attempt = ?, updated_at = ?, deadline = ?,
	caller_gone = ?, effect = ?, code = ?, reason = ?, public_reason = ?, result_mode = ?, policy_version = ?, rules = ?,
	process = ?, ended_at = ?, end_error = ?, end_evidence = ?, end_code = ?, end_detail = ?, end_comparison = ?
	WHERE id = ? AND state = ? AND fence = ?`

// move takes a row over one edge of the state table by compare-and-swap on
// state and fence, and returns it as it then is. ErrState comes with the row
// as it was.
func (t *tx) move(from, to action.Action) (action.Action, error) {
	if !action.CanMove(from.State, to.State) {
		return from, action.ErrState
	}
	to.UpdatedAt = t.now
	r := action.Result{}
	if to.Result != nil {
		to.Result.At = t.now
		r = *to.Result
	}
	d := to.Decision
	n, err := t.exec(saveSQL, string(to.State), to.Fence, to.LeaseUntil, to.Attempt, to.UpdatedAt, to.Deadline,
		to.CallerGone, d.Effect, d.Code, d.Reason, d.PublicReason, d.ResultMode, d.PolicyVersion, listText(d.Rules),
		t.store.process, r.At, r.IsError, r.Evidence, r.Code, r.Detail, r.Comparison,
		from.ID, string(from.State), from.Fence)
	if err != nil {
		return action.Action{}, fmt.Errorf("move action to %s: %w", to.State, err)
	}
	if n != 1 {
		return from, action.ErrState
	}
	return to, nil
}

// keep seals the output of a result beside the row.
func (t *tx) keep(a action.Action) error {
	if a.Result == nil || len(a.Result.Output) == 0 {
		return nil
	}
	b, err := t.store.opt.Sealer.Seal(keys.Place{Tenant: a.Tenant, Row: a.ID, Field: fieldResult}, a.Result.Output)
	if err != nil {
		return fmt.Errorf("seal result: %w", err)
	}
	if _, err := t.exec("UPDATE payload SET result = ? WHERE action_seq = (SELECT seq FROM action WHERE id = ?)", b, a.ID); err != nil {
		return fmt.Errorf("keep result: %w", err)
	}
	return nil
}

// end is a result that holds only why an action ended.
func end(code, detail string) *action.Result { return &action.Result{Code: code, Detail: detail} }

// Codes of results that the store itself gives; all are of the closed list.
const (
	codeRejected  = "rejected"
	codeExpired   = "expired"
	codeRevoked   = "revoked"
	codeUncertain = "outcome_uncertain"
)

// ErrInvalid is returned for a verb that asks for something that no caller
// may ask for: a row without identity, terms without an end, a lease of no
// length. It names the member.
var ErrInvalid = errors.New("the store was asked for something that makes no sense")

func invalid(what string) error { return fmt.Errorf("%w: %s", ErrInvalid, what) }

// whole checks what every new row must have.
func whole(a action.Action) error {
	switch {
	case a.ID == "":
		return invalid("id is empty")
	case a.Tenant == "":
		return invalid("tenant is empty")
	case a.Principal == "":
		return invalid("principal is empty")
	case a.Kind != action.KindCall && a.Kind != action.KindHandoff:
		return invalid("kind is neither call nor handoff")
	case a.State != action.Denied && a.Fingerprint.IsZero():
		return invalid("fingerprint is missing") // nothing could be compared with it
	}
	return rehash(a)
}

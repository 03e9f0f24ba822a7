package api

import (
	"encoding/json"
	"errors"
	"net/http"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// called is the answer to a call that ran or waits: the envelope and, where
// there is one, the receipt.
type called struct {
	Outcome json.RawMessage `json:"outcome"`
	Receipt json.RawMessage `json:"receipt,omitempty"`
}

// proposed are the members that explain and call share.
func proposed(c *verbatim.Call) []member {
	return []member{{name: "toolName", required: true, text: &c.Tool}, {name: "arguments", required: true, exact: &c.Arguments}}
}

// wanted are the members of call.
func wanted(c *verbatim.Call) []member {
	return append(proposed(c), member{name: "approval", text: &c.Approval}, member{name: "supersedes", text: &c.Supersedes},
		member{name: "model", text: &c.Model}, member{name: "callId", text: &c.CallID}, member{name: "waitSeconds", wait: &c.Wait})
}

// call runs a tool, once the gate lets it.
func (a *API) call(w http.ResponseWriter, r *request) {
	var c verbatim.Call
	err := read(w, r.Request, wanted(&c))
	if err != nil {
		a.refuseBody(w, err)
		return
	}
	if c.IdempotencyKey, err = endpoint.IdempotencyKey(r.Header); err != nil {
		a.badRequest(w, http.StatusBadRequest, err)
		return
	}
	o, err := a.cfg.Calls.Call(r.Context(), r.caller, c)
	if err != nil && (notSent(err) || o.Status == "") {
		a.unavailable(w, err)
		return
	}
	a.answer(w, o)
}

// notSent: the call had no outcome, because it did not come to its server.
func notSent(err error) bool {
	return errors.Is(err, hub.ErrEnded) || errors.Is(err, hub.ErrUnreachable) || errors.Is(err, gate.ErrListing)
}

// unavailable answers where there is no outcome.
func (a *API) unavailable(w http.ResponseWriter, err error) {
	code := verbatim.CodeRecordFailed
	if notSent(err) {
		code = verbatim.CodeToolNotRun
	}
	a.cfg.Log.Error("a request has no outcome", "code", code, "error", err)
	w.Header().Set("Retry-After", "1")
	writeProblem(w, coded(http.StatusServiceUnavailable, code, ""))
}

// answer words an outcome.
func (a *API) answer(w http.ResponseWriter, o verbatim.Outcome) {
	instance := ""
	if o.ActionID != "" {
		instance = prefix + "actions/" + o.ActionID
	}
	status := statusOf(o)
	if status < http.StatusBadRequest {
		if status == http.StatusAccepted && instance != "" {
			w.Header().Set("Location", instance)
		}
		writeJSON(w, status, "application/json", called{Outcome: o.Envelope(), Receipt: o.Receipt})
		return
	}
	p := coded(status, o.Code, o.Sentence())
	p.Instance, p.Outcome, p.Receipt = instance, o.Envelope(), o.Receipt
	writeProblem(w, p)
}

// codeStatuses are the codes whose status is not that of their outcome
// (semantics §9, idempotency key).
var codeStatuses = map[verbatim.Code]int{
	verbatim.CodeIdempotencyMismatch: http.StatusUnprocessableEntity,
	verbatim.CodeApprovalMismatch:    http.StatusConflict,
	verbatim.CodeApprovalStale:       http.StatusConflict,
	verbatim.CodeApprovalConsumed:    http.StatusConflict,
	verbatim.CodeTargetChanged:       http.StatusConflict,
	verbatim.CodeRecordFailed:        http.StatusServiceUnavailable,
}

// statusOf is the HTTP status of an outcome.
func statusOf(o verbatim.Outcome) int {
	if status, ok := codeStatuses[o.Code]; ok && o.Status != verbatim.StatusUncertain {
		return status
	}
	switch o.Status {
	case verbatim.StatusOK:
		return http.StatusOK
	case verbatim.StatusApprovalRequired:
		return http.StatusAccepted
	case verbatim.StatusInvalidArguments:
		return http.StatusUnprocessableEntity
	case verbatim.StatusInProgress, verbatim.StatusUncertain:
		return http.StatusConflict
	case verbatim.StatusFailed:
		return http.StatusFailedDependency
	default:
		return http.StatusForbidden
	}
}

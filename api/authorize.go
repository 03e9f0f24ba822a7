package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// authorized is the answer to a call that its caller may run, or that waits or
// ran before.
type authorized struct {
	Outcome json.RawMessage `json:"outcome"`
	Receipt json.RawMessage `json:"receipt,omitempty"`
	Warrant envelope        `json:"warrant,omitempty"`
	Args    string          `json:"argsCanonicalJson,omitempty"`
	SendBy  *time.Time      `json:"sendDeadline,omitempty"`
}

// envelope is a warrant, which is written in the form of its header.
type envelope []byte

// MarshalText is for whoever reads the type; [authorized.appendTo] writes the same.
func (e envelope) MarshalText() ([]byte, error) { return warrant.AppendEncoded(nil, e), nil }

// answers keeps the room of the answers to authorize, which are some kilobytes.
var answers = sync.Pool{New: func() any { return new([]byte) }}

// longestKept is the longest answer whose room is kept, in bytes.
const longestKept = 16 << 10

// authorize takes a call to the permit, for its caller to run.
func (a *API) authorize(w http.ResponseWriter, r *request) {
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
	got, err := a.cfg.Calls.Authorize(r.Context(), r.caller, c)
	switch {
	case err != nil && (notSent(err) || got.Outcome.Status == ""):
		a.unavailable(w, err)
	case got.Warrant == nil:
		a.answer(w, got.Outcome)
	default:
		by := got.SendBy.UTC()
		room := answers.Get().(*[]byte)
		text := authorized{Outcome: got.Outcome.Envelope(), Receipt: got.Outcome.Receipt, Warrant: got.Warrant, Args: got.Args, SendBy: &by}.appendTo((*room)[:0])
		write(w, http.StatusOK, "application/json", text) // which keeps none of it
		if *room = text; cap(text) <= longestKept {
			answers.Put(room)
		}
	}
}

// appendTo appends the answer as JSON. It is written by hand, because two thirds
// of it are signed texts, which encoding/json would read once more, byte by byte.
func (x authorized) appendTo(out []byte) []byte {
	out = slices.Grow(out, len(x.Outcome)+len(x.Receipt)+len(x.Warrant)+len(x.Warrant)/3+len(x.Args)+len(x.Args)/4+likelyRest)
	out = append(append(out, `{"outcome":`...), x.Outcome...)
	if len(x.Receipt) > 0 {
		out = append(append(out, `,"receipt":`...), x.Receipt...)
	}
	if len(x.Warrant) > 0 {
		out = append(warrant.AppendEncoded(append(out, `,"warrant":"`...), x.Warrant), '"')
	}
	if x.Args != "" {
		out = canon.AppendText(append(out, `,"argsCanonicalJson":`...), x.Args)
	}
	if x.SendBy != nil {
		out = append(x.SendBy.AppendFormat(append(out, `,"sendDeadline":"`...), time.RFC3339Nano), '"')
	}
	return append(out, '}')
}

// likelyRest is the room for the names, in bytes.
const likelyRest = 192

// reported are the members of a report. The warrant has the form of its header.
func reported(text *[]byte, r *verbatim.Report, how, verdict *string) []member {
	return []member{{name: "warrant", required: true, exact: text}, {name: "ended", required: true, text: how},
		{name: "verdict", text: verdict}, {name: "output", exact: &r.Output}}
}

// outcome takes the word of whoever authorized an action on how it ended.
func (a *API) outcome(w http.ResponseWriter, r *request) {
	var text []byte
	var how, verdict string
	var report verbatim.Report
	if err := read(w, r.Request, reported(&text, &report, &how, &verdict)); err != nil {
		a.refuseBody(w, err)
		return
	}
	report.Ended, report.Verdict = verbatim.Reported(how), warrant.Verdict(verdict)
	report.Warrant, _ = warrant.Decode(string(text)) // what has no form is not the one that was given out
	found, err := a.own(r, r.id)
	var o verbatim.Outcome
	if err == nil {
		o, err = a.cfg.Actions.Report(r.Context(), r.caller.Session, found.ID, report)
	}
	switch {
	case err == nil:
		writeJSON(w, http.StatusOK, "application/json", called{Outcome: o.Envelope(), Receipt: o.Receipt})
	case errors.Is(err, action.ErrNotFound):
		a.Refuse(w, http.StatusNotFound, "there is no such action")
	case errors.Is(err, verbatim.ErrReport):
		a.badRequest(w, http.StatusBadRequest, canon.Refuse("/ended", "report", "how it ended, with a verdict and an output that go with it"))
	case errors.Is(err, verbatim.ErrWarrant):
		writeProblem(w, coded(http.StatusForbidden, verbatim.CodeWarrantUnknown, ""))
	case errors.Is(err, action.ErrState):
		a.endedOtherwise(w, o)
	default:
		a.unavailable(w, err)
	}
}

// endedOtherwise answers a report that the state machine does not take.
func (a *API) endedOtherwise(w http.ResponseWriter, o verbatim.Outcome) {
	code := verbatim.CodeTooLate
	if o.Status == verbatim.StatusUncertain {
		code = verbatim.CodeOutcomeUncertain
	}
	p := coded(http.StatusConflict, code, "")
	p.Instance, p.Outcome, p.Receipt = prefix+"actions/"+o.ActionID, o.Envelope(), o.Receipt
	writeProblem(w, p)
}

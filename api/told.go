package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// vote is one person's answer. What they wrote beside it is for people.
type vote struct {
	Voter   string    `json:"voter"` // account id
	Approve bool      `json:"approve"`
	Method  string    `json:"method"`
	At      time.Time `json:"at"`
}

type votes struct {
	Votes []vote `json:"votes"`
}

// record is one entry of the log.
type record struct {
	Seq         int64             `json:"seq"`
	At          time.Time         `json:"at"`
	Event       string            `json:"event"`
	By          string            `json:"by,omitempty"`
	From        string            `json:"from,omitempty"`
	To          string            `json:"to,omitempty"`
	Code        string            `json:"code,omitempty"`
	Facts       map[string]string `json:"facts,omitempty"`
	Commitments map[string]string `json:"commitments,omitempty"`
}

// records is one page of them, newest first.
type records struct {
	Records []record `json:"records"`
	Next    int64    `json:"next,omitempty"` // for before; absent on the last page
}

// receipts are DSSE envelopes, newest record first.
type receipts struct {
	Receipts []json.RawMessage `json:"receipts"`
}

func recordOf(r audit.Record) record {
	return record{r.Seq, r.At.UTC(), r.Event, r.By, r.From, r.To, r.Code, r.Facts, r.Commitments}
}

// votes lists the votes on an action, oldest first. People vote on the page,
// never here.
func (a *API) votes(w http.ResponseWriter, r *request) {
	found, err := a.own(r, r.id)
	if err != nil {
		a.noAction(w, err)
		return
	}
	list, err := a.cfg.Actions.Votes(r.Context(), found.Tenant, found.ID)
	if err != nil {
		a.noAction(w, err)
		return
	}
	out := votes{Votes: []vote{}}
	for _, v := range list {
		out.Votes = append(out.Votes, vote{v.Voter, v.Approve, v.Method, v.At.UTC()})
	}
	writeJSON(w, http.StatusOK, "application/json", out)
}

// records lists what the log holds of an action, newest first.
func (a *API) records(w http.ResponseWriter, r *request) {
	f := audit.Filter{}
	var err error
	if f.Limit, err = atLeastOne(r.query, "limit", MaxPage); err != nil {
		a.badRequest(w, http.StatusBadRequest, err)
		return
	}
	if text, given := r.query["before"]; given {
		if f.Before, err = strconv.ParseInt(text, 10, 64); err != nil || f.Before < 1 {
			a.badRequest(w, http.StatusBadRequest, canon.Refuse("/before", "range", "the number of a record"))
			return
		}
	}
	found, err := a.own(r, r.id)
	if err != nil {
		a.noAction(w, err)
		return
	}
	f.Tenant, f.Action = found.Tenant, found.ID
	list, err := a.cfg.Actions.Records(r.Context(), f)
	if err != nil {
		a.noAction(w, err)
		return
	}
	out := records{Records: []record{}}
	for _, x := range list {
		out.Records = append(out.Records, recordOf(x))
	}
	if len(list) == f.Limit {
		out.Next = list[len(list)-1].Seq
	}
	writeJSON(w, http.StatusOK, "application/json", out)
}

// receipts signs the promises for an action once more.
func (a *API) receipts(w http.ResponseWriter, r *request) {
	found, err := a.own(r, r.id)
	if err != nil {
		a.noAction(w, err)
		return
	}
	list, err := a.cfg.Actions.Receipts(r.Context(), found.Tenant, found.ID)
	if err != nil {
		a.noAction(w, err)
		return
	}
	out := receipts{Receipts: []json.RawMessage{}}
	for _, x := range list {
		out.Receipts = append(out.Receipts, x)
	}
	writeJSON(w, http.StatusOK, "application/json", out)
}

// evidence hands out the bundle of an action, which verifies without us.
// Payloads are not in it: they are shown on the page, to people.
func (a *API) evidence(w http.ResponseWriter, r *request) {
	found, err := a.own(r, r.id)
	var text []byte
	if err == nil {
		text, err = a.cfg.Actions.Evidence(r.Context(), found.Tenant, found.ID, false)
	}
	if err != nil {
		a.noAction(w, err)
		return
	}
	write(w, http.StatusOK, "application/json", text)
}

// result answers as the call itself would be answered now.
func (a *API) result(w http.ResponseWriter, r *request) {
	found, err := a.own(r, r.id)
	var o verbatim.Outcome
	if err == nil {
		o, err = a.cfg.Actions.Stored(r.Context(), found.Tenant, found.ID)
	}
	if err != nil {
		a.noAction(w, err)
		return
	}
	a.answer(w, o)
}

// noAction answers where an action cannot be told of.
func (a *API) noAction(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, action.ErrNotFound):
		a.Refuse(w, http.StatusNotFound, "there is no such action")
	case errors.Is(err, verbatim.ErrNotSigned):
		w.Header().Set("Retry-After", "1")
		writeProblem(w, coded(http.StatusConflict, verbatim.CodeNotSigned, ""))
	default:
		a.unavailable(w, err)
	}
}

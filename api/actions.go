package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// seen is what a caller may know of an action of its principal.
type seen struct {
	ID           string       `json:"actionId"`
	Tool         string       `json:"toolName"`
	Agent        string       `json:"agentName"`
	State        action.State `json:"state"`
	Final        bool         `json:"final"` // the state never changes again
	ProposalHash string       `json:"proposalHash,omitempty"`
	Code         string       `json:"code"` // of the decision
	PublicReason string       `json:"publicReason,omitempty"`
	CreatedAt    time.Time    `json:"createdAt"`
	UpdatedAt    time.Time    `json:"updatedAt"`
	ExpiresAt    *time.Time   `json:"expiresAt,omitempty"`
	Result       *result      `json:"result,omitempty"`
}

// result is how it ended.
type result struct {
	Code     string          `json:"code,omitempty"`
	Evidence string          `json:"evidence,omitempty"`
	IsError  bool            `json:"isError,omitempty"`
	Output   json.RawMessage `json:"output,omitempty"` // of a single action only
}

// page is one answer of a list.
type page struct {
	Actions []seen `json:"actions"`
	Next    string `json:"next,omitempty"` // for before; absent on the last page
}

func show(a action.Action) seen {
	s := seen{ID: a.ID, Tool: a.Tool, Agent: a.Agent, State: a.State, Final: a.State.Terminal(), Code: a.Decision.Code,
		PublicReason: a.Decision.PublicReason, CreatedAt: a.CreatedAt.UTC(), UpdatedAt: a.UpdatedAt.UTC(), Result: ended(a)}
	if a.Hash != [32]byte{} {
		s.ProposalHash = a.Hash.String()
	}
	if !a.Deadline.IsZero() {
		at := a.Deadline.UTC()
		s.ExpiresAt = &at
	}
	return s
}

// brief is what show says without what the tool answered.
func brief(a action.Action) seen {
	s := show(a)
	if s.Result != nil {
		s.Result.Output = nil
	}
	return s
}

// ended is how an action ended; nil where it has not.
func ended(a action.Action) *result {
	if a.Result == nil {
		return nil
	}
	out := &result{Code: a.Result.Code, Evidence: a.Result.Evidence, IsError: a.Result.IsError}
	if json.Valid(a.Result.Output) {
		out.Output = a.Result.Output
	}
	return out
}

// theirs: the action was proposed for the caller's own principal, with a tool
// that exists for the caller.
func theirs(c hub.Caller, a action.Action) bool {
	return a.Tenant == c.Session.Tenant && a.Principal == c.Session.Principal && c.Reaches(a.Tool)
}

// own finds an action of the caller. One of somebody else is not found.
func (a *API) own(r *request, id string) (action.Action, error) {
	if !plain(id) {
		return action.Action{}, action.ErrNotFound
	}
	found, err := a.cfg.Actions.Action(r.Context(), r.caller.Session.Tenant, id)
	if err == nil && !theirs(r.caller, found) {
		err = action.ErrNotFound
	}
	return found, err
}

// action tells of one action. With wait it answers once the state is another
// than the one named, or than the one found first.
func (a *API) action(w http.ResponseWriter, r *request) {
	wait, err := number(r.query, "wait", 0, int(MaxWait/time.Second))
	if err != nil {
		a.badRequest(w, http.StatusBadRequest, err)
		return
	}
	past := action.State(r.query["state"])
	if past != "" && !slices.Contains(action.States(), past) {
		a.badRequest(w, http.StatusBadRequest, canon.Refuse("/state", "enum", "a state of an action"))
		return
	}
	found, err := a.own(r, r.id)
	if past == "" {
		past = found.State
	}
	if err == nil && wait > 0 {
		leave, ok := a.waiting.enter(r.caller.Session)
		if !ok {
			a.tooMany(w)
			return
		}
		defer leave()
		found, err = a.await(r, found, past, time.Duration(wait)*time.Second)
	}
	switch {
	case errors.Is(err, action.ErrNotFound):
		a.Refuse(w, http.StatusNotFound, "there is no such action")
	case err != nil:
		a.unavailable(w, err)
	default:
		writeJSON(w, http.StatusOK, "application/json", show(found))
	}
}

// dismiss withdraws an action that waits or is approved. Only its own
// principal may; what has begun is too late.
func (a *API) dismiss(w http.ResponseWriter, r *request) {
	if err := read(w, r.Request, nil); err != nil {
		a.refuseBody(w, err)
		return
	}
	found, err := a.own(r, r.id)
	if err == nil {
		found, err = a.cfg.Actions.Dismiss(r.Context(), r.caller.Session, found.ID)
	}
	switch {
	case errors.Is(err, action.ErrNotFound):
		a.Refuse(w, http.StatusNotFound, "there is no such action")
	case errors.Is(err, action.ErrState), errors.Is(err, action.ErrLate):
		writeProblem(w, coded(http.StatusConflict, verbatim.CodeTooLate, ""))
	case err != nil:
		a.unavailable(w, err)
	default:
		writeJSON(w, http.StatusOK, "application/json", show(found))
	}
}

// await looks again until the state has changed, time is up, or somebody goes.
func (a *API) await(r *request, found action.Action, past action.State, long time.Duration) (action.Action, error) {
	end := time.NewTimer(long)
	defer end.Stop()
	again := time.NewTicker(a.cfg.Pause)
	defer again.Stop()
	for found.State == past && !found.State.Terminal() {
		select {
		case <-r.Context().Done():
			return found, nil
		case <-a.cfg.Calls.Done():
			return found, nil
		case <-end.C:
			return found, nil
		case <-again.C:
		}
		var err error
		if found, err = a.own(r, found.ID); err != nil {
			return found, err
		}
	}
	return found, nil
}

// list tells of the caller's actions, newest first. What a tool answered is
// told of single actions only.
func (a *API) list(w http.ResponseWriter, r *request) {
	f, err := a.filter(r, MaxPage)
	if err != nil {
		a.badRequest(w, http.StatusBadRequest, err)
		return
	}
	found, err := a.cfg.Actions.Actions(r.Context(), f)
	if err != nil {
		a.unavailable(w, err)
		return
	}
	out := page{Actions: []seen{}}
	if len(found) == f.Limit {
		out.Next = found[len(found)-1].ID
	}
	for _, x := range found {
		if theirs(r.caller, x) {
			out.Actions = append(out.Actions, brief(x))
		}
	}
	writeJSON(w, http.StatusOK, "application/json", out)
}

// filter reads the parameters of a list.
func (a *API) filter(r *request, most int) (action.Filter, error) {
	s := r.caller.Session
	f := action.Filter{Tenant: s.Tenant, Principal: s.Principal, Tool: r.query["tool"], Before: r.query["before"]}
	var err error
	if f.Limit, err = atLeastOne(r.query, "limit", most); err != nil {
		return f, err
	}
	if state := action.State(r.query["state"]); state != "" {
		if !slices.Contains(action.States(), state) {
			return f, canon.Refuse("/state", "enum", "a state of an action")
		}
		f.States = []action.State{state}
	}
	if f.Before != "" { // it may be of a tool that does not exist for this caller
		last, err := a.cfg.Actions.Action(r.Context(), s.Tenant, f.Before)
		if err != nil || last.Principal != s.Principal {
			return f, canon.Refuse("/before", "unknown", "the id that next gave")
		}
	}
	return f, nil
}

// atLeastOne reads a bound of a list; absent is the highest.
func atLeastOne(query map[string]string, name string, most int) (int, error) {
	n, err := number(query, name, most, most)
	if err == nil && n == 0 {
		err = canon.Refuse("/"+name, "range", fmt.Sprintf("an integer, 1 to %d", most))
	}
	return n, err
}

// number reads a whole parameter; absent is what it is where none was given.
func number(query map[string]string, name string, absent, most int) (int, error) {
	text, found := query[name]
	if !found {
		return absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most || strconv.Itoa(n) != text {
		return 0, canon.Refuse("/"+name, "range", fmt.Sprintf("an integer, 0 to %d", most))
	}
	return n, nil
}

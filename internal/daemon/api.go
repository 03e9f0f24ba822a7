package daemon

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// api is the control API. Whoever reaches the socket is the user of this
// machine; what needs more than that asks for a password.
func (d *Daemon) api() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", answer(d.status))
	mux.HandleFunc("POST /v1/attach", d.attach)
	mux.HandleFunc("GET /v1/attachments/{id}/notes", d.notes)
	mux.HandleFunc("GET /v1/actions", answer(d.actions))
	mux.HandleFunc("GET /v1/actions/{id}", answer(d.action))
	mux.HandleFunc("GET /v1/actions/{id}/votes", answer(d.signedVotes))
	mux.HandleFunc("GET /v1/actions/{id}/evidence", answer(d.evidence))
	mux.HandleFunc("POST /v1/actions/{id}/vote", answer(d.vote))
	mux.HandleFunc("POST /v1/actions/{id}/revoke", answer(d.revoke))
	mux.HandleFunc("POST /v1/actions/{id}/erase", answer(d.erase))
	mux.HandleFunc("POST /v1/actions/{id}/settle", answer(d.settle))
	mux.HandleFunc("GET /v1/grants", answer(d.grants))
	mux.HandleFunc("GET /v1/grants/{id}", answer(d.signedGrant))
	mux.HandleFunc("POST /v1/grants/{id}/revoke", answer(d.revokeGrant))
	mux.HandleFunc("GET /v1/records", answer(d.records))
	mux.HandleFunc("GET /v1/overview", answer(d.overview))
	mux.HandleFunc("GET /v1/stops", answer(d.stops))
	mux.HandleFunc("POST /v1/freeze", answer(d.freeze))
	mux.HandleFunc("POST /v1/unfreeze", answer(d.unfreeze))
	mux.HandleFunc("GET /v1/accounts", answer(d.accounts))
	mux.HandleFunc("POST /v1/accounts", answer(d.addAccount))
	mux.HandleFunc("GET /v1/people", answer(d.people))
	mux.HandleFunc("POST /v1/people/{do}", answer(d.manage))
	mux.HandleFunc("POST /v1/drain", answer(d.drain))
	mux.HandleFunc("POST /v1/stop", answer(d.quit))
	return d.noticed(mux)
}

func (d *Daemon) status(r *http.Request) (any, error) { return d.current(r.Context()) }

func (d *Daemon) current(ctx context.Context) (State, error) {
	s := d.state
	pending, err := d.pending(ctx)
	s.Attached, s.Pending, s.Draining = d.attached.count(), pending, d.draining.Load()
	return s, err
}

// drain makes way for a newer daemon: at once if nobody is attached, else
// when the last client has gone.
func (d *Daemon) drain(r *http.Request) (any, error) {
	d.draining.Store(true)
	s, err := d.current(r.Context())
	if err == nil && s.Attached == 0 {
		d.stop()
	}
	return s, err
}

func (d *Daemon) quit(r *http.Request) (any, error) {
	s, err := d.current(r.Context())
	d.stop()
	return s, err
}

// states are the words of the query that stand for several states.
var states = map[string][]action.State{
	"":        nil,
	"all":     nil,
	"pending": {action.PendingApproval},
	"open":    {action.PendingApproval, action.Approved, action.Claimed, action.Executing, action.Uncertain},
}

// stateNames lists the states, each after a comma.
func stateNames() string {
	var b strings.Builder
	for _, s := range action.States() {
		b.WriteString(", " + string(s))
	}
	return b.String()
}

func (d *Daemon) actions(r *http.Request) (any, error) {
	q := r.URL.Query()
	wanted, known := states[q.Get("state")]
	if !known {
		one := action.State(q.Get("state"))
		if !slices.Contains(action.States(), one) {
			return nil, refuse(http.StatusBadRequest, "there is no such state; there are pending, open, all"+stateNames())
		}
		wanted = []action.State{one}
	}
	limit, err := number(q.Get("limit"), 100)
	if err != nil {
		return nil, err
	}
	rows, err := d.cfg.Gate.Actions(r.Context(), action.Filter{Tenant: d.cfg.Tenant, States: wanted,
		Limit: limit, Before: q.Get("before")})
	if err != nil {
		return nil, err
	}
	out := make([]Item, len(rows))
	for i, a := range rows {
		out[i] = d.item(a)
	}
	return List{Actions: out}, nil
}

// number reads a bound of a list.
func number(text string, preset int) (int, error) {
	if text == "" {
		return preset, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1000 {
		return 0, refuse(http.StatusBadRequest, "limit must be from 1 to 1000")
	}
	return n, nil
}

func (d *Daemon) action(r *http.Request) (any, error) {
	a, err := d.find(r)
	if err != nil {
		return nil, err
	}
	return d.detail(r.Context(), a)
}

func (d *Daemon) find(r *http.Request) (action.Action, error) {
	a, err := d.cfg.Gate.Action(r.Context(), d.cfg.Tenant, r.PathValue("id"))
	if errors.Is(err, action.ErrNotFound) {
		return a, refuse(http.StatusNotFound, "there is no such action")
	}
	return a, err
}

// records lists the audit log as it is: it holds no argument value.
func (d *Daemon) records(r *http.Request) (any, error) {
	q := r.URL.Query()
	limit, err := number(q.Get("limit"), 50)
	if err != nil {
		return nil, err
	}
	var before int64
	if text := q.Get("before"); text != "" {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return nil, refuse(http.StatusBadRequest, "before must be the number of a record")
		}
	}
	found, err := d.cfg.Gate.Records(r.Context(), audit.Filter{Tenant: d.cfg.Tenant, Action: q.Get("action"),
		Event: q.Get("event"), Limit: limit, Before: before})
	if err != nil {
		return nil, err
	}
	out := make([]Record, len(found))
	for i, rec := range found {
		out[i] = recordOf(rec)
	}
	return Records{Records: out}, nil
}

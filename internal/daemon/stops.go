package daemon

import (
	"errors"
	"net/http"

	"github.com/seed-de4804fb/verbatim/action"
)

// Stop is one turn of the freeze switch. Without agent and tool it stops all
// of the home.
type Stop struct {
	Kind   string `json:"kind"` // everything, tenant, agent, tool or agent_tool
	Agent  string `json:"agent,omitempty"`
	Tool   string `json:"tool,omitempty"`
	By     string `json:"by"` // name of the account, or "host"
	Reason string `json:"reason,omitempty"`
	At     string `json:"at"` // RFC 3339
}

// Stops is what is frozen.
type Stops struct {
	Stops []Stop `json:"stops"`
}

// Freezing asks to stop an agent, a tool or, with neither, all of the home.
// It needs no password: it does no harm that lasts, and must be quick.
type Freezing struct {
	Everything bool   `json:"everything,omitempty"` // of every tenant of the store
	Agent      string `json:"agent,omitempty"`
	Tool       string `json:"tool,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

// Frozen is the answer: from here on nothing starts.
type Frozen struct {
	Kind    string `json:"kind"`
	Running int    `json:"running"`           // runs under way, which are not cut
	Unknown bool   `json:"unknown,omitempty"` // no catalog or server has named the tool yet
}

// Lifting asks to end a stop, with the password of a person.
type Lifting struct {
	Freezing
	Name     string `json:"name"`
	Password string `json:"password"`
}

func (f Freezing) stop(tenant, by string) (action.Stop, error) {
	if f.Everything {
		tenant = ""
	}
	if f.Everything && (f.Agent != "" || f.Tool != "") {
		return action.Stop{}, refuse(http.StatusBadRequest, "everything has neither an agent nor a tool")
	}
	return action.Stop{Tenant: tenant, Agent: f.Agent, Tool: f.Tool, By: by, Reason: f.Reason}, nil
}

func (d *Daemon) stops(r *http.Request) (any, error) {
	all, err := d.standing(r)
	return Stops{all}, err
}

// standing lists what is frozen.
func (d *Daemon) standing(r *http.Request) ([]Stop, error) {
	found, err := d.cfg.Gate.Stops(r.Context(), d.cfg.Tenant)
	if err != nil {
		return nil, err
	}
	out := make([]Stop, len(found))
	for i, s := range found {
		out[i] = Stop{Kind: s.Kind(), Agent: s.Agent, Tool: s.Tool, By: d.nameOf(r, s.By), Reason: s.Reason, At: stamp(s.At)}
	}
	return out, nil
}

// nameOf is the name of an account, or what stands for one that is not known.
func (d *Daemon) nameOf(r *http.Request, id string) string {
	a, err := d.cfg.Accounts.ByID(r.Context(), id)
	if err != nil || a.Tenant != d.cfg.Tenant {
		return id
	}
	return a.Name
}

func (d *Daemon) freeze(r *http.Request) (any, error) {
	var f Freezing
	if err := decodeBody(r, &f); err != nil {
		return nil, err
	}
	s, err := f.stop(d.cfg.Tenant, action.ByHost)
	if err != nil {
		return nil, err
	}
	running, err := d.cfg.Gate.Freeze(r.Context(), s)
	if err != nil {
		return nil, voteRefusal(err)
	}
	_, known := d.cfg.Tools(f.Tool)
	return Frozen{Kind: s.Kind(), Running: running, Unknown: f.Tool != "" && !known}, nil
}

// unfreeze lifts a stop for a person, after their own password.
func (d *Daemon) unfreeze(r *http.Request) (any, error) {
	var l Lifting
	if err := decodeBody(r, &l); err != nil {
		return nil, err
	}
	who, err := d.accountable(r, l.Name, l.Password, l.Reason)
	if err != nil {
		return nil, err
	}
	s, err := l.stop(d.cfg.Tenant, who.ID)
	if err != nil {
		return nil, err
	}
	switch err := d.cfg.Gate.Unfreeze(r.Context(), s); {
	case errors.Is(err, action.ErrNotFound):
		return nil, refuse(http.StatusNotFound, "that is not frozen; verbatim freeze list shows what is")
	case errors.Is(err, action.ErrIneligible):
		return nil, refuse(http.StatusForbidden, "an operator, or whoever froze it, must lift this; nothing was changed")
	case err != nil:
		return nil, err
	}
	return d.stops(r)
}

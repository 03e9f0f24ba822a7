package daemon

import (
	"errors"
	"net/http"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
)

// Evidence is the evidence of one action: a bundle that verifies without the
// daemon, as its RFC 8785 text.
type Evidence struct {
	Bundle string `json:"bundle"`
	// Erased: a payload was asked for, and none is left to show.
	Erased bool `json:"erased,omitempty"`
}

func (d *Daemon) evidence(r *http.Request) (any, error) {
	payload, erased := r.URL.Query().Get("payload") == "true", false
	if payload {
		var err error
		if erased, err = d.showable(r); err != nil {
			return nil, err
		}
	}
	text, err := d.cfg.Gate.Evidence(r.Context(), d.cfg.Tenant, r.PathValue("id"), payload)
	switch {
	case errors.Is(err, action.ErrNotFound):
		return nil, refuse(http.StatusNotFound, "there is no record of such an action")
	case errors.Is(err, verbatim.ErrNotSigned):
		return nil, refuse(http.StatusConflict, err.Error())
	case errors.Is(err, verbatim.ErrEvidence):
		return nil, refuse(http.StatusInternalServerError, err.Error()+"; run verbatim store check")
	}
	return Evidence{Bundle: string(text), Erased: erased}, err
}

// showable refuses payloads of a tool with secret members: a record commits to
// whole texts, so that nothing inside one can be masked. erased says that
// nothing is left to show.
func (d *Daemon) showable(r *http.Request) (erased bool, _ error) {
	a, err := d.cfg.Gate.Action(r.Context(), d.cfg.Tenant, r.PathValue("id"))
	if errors.Is(err, action.ErrNotFound) { // a read has no payload
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if t, known := d.cfg.Tools(a.Tool); known && len(t.Secrets) > 0 {
		return false, refuse(http.StatusForbidden, "the catalog marks members of this tool as secret, and a payload is shown whole or not at all; ask without it")
	}
	return !a.ErasedAt.IsZero(), nil
}

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
}

func (d *Daemon) evidence(r *http.Request) (any, error) {
	text, err := d.cfg.Gate.Evidence(r.Context(), d.cfg.Tenant, r.PathValue("id"), r.URL.Query().Get("payload") == "true")
	switch {
	case errors.Is(err, action.ErrNotFound):
		return nil, refuse(http.StatusNotFound, "there is no record of such an action")
	case errors.Is(err, verbatim.ErrNotSigned):
		return nil, refuse(http.StatusConflict, err.Error())
	case errors.Is(err, verbatim.ErrEvidence):
		return nil, refuse(http.StatusInternalServerError, err.Error()+"; run verbatim store check")
	}
	return Evidence{Bundle: string(text)}, err
}

package daemon

import (
	"errors"
	"net/http"

	"github.com/seed-de4804fb/verbatim/action"
)

// erase destroys what tells of the arguments of an action that has ended, for
// a person, after their own password.
func (d *Daemon) erase(r *http.Request) (any, error) {
	var w Withdrawal
	if err := decodeBody(r, &w); err != nil {
		return nil, err
	}
	who, err := d.accountable(r, w.Name, w.Password, w.Reason)
	if err != nil {
		return nil, err
	}
	a, err := d.cfg.Gate.Erase(r.Context(), d.cfg.Tenant, r.PathValue("id"), who.ID, w.Reason)
	switch {
	case errors.Is(err, action.ErrNotFound):
		return nil, refuse(http.StatusNotFound, "there is no such action")
	case errors.Is(err, action.ErrState):
		return nil, refuse(http.StatusConflict, "only an action that has ended is erased; it is "+string(a.State))
	case errors.Is(err, action.ErrIneligible):
		return nil, refuse(http.StatusForbidden, "an operator must erase this; nothing was changed")
	case err != nil:
		return nil, err
	}
	return d.detail(r.Context(), a)
}

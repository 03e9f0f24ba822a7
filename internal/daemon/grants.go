package daemon

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
)

// Grant is one standing grant. What its members may be is not in it: those
// are arguments, which the page shows and the signed statement holds.
type Grant struct {
	ID        string `json:"id"`
	State     string `json:"state"` // in_force, used_up, over or revoked
	Tool      string `json:"tool"`
	Agent     string `json:"agent"`
	Principal string `json:"principal"`
	Source    string `json:"source"` // the action that it was made from
	Digest    string `json:"digest"`
	Uses      int    `json:"uses"`
	MaxUses   int    `json:"maxUses"`
	ExpiresAt string `json:"expiresAt"` // RFC 3339
	RevokedBy string `json:"revokedBy,omitempty"`
}

// Grants lists standing grants, newest first.
type Grants struct {
	Grants []Grant `json:"grants"`
}

// SignedGrant is one standing grant with its signatures, in the form that
// verifies without the daemon.
type SignedGrant struct {
	Grant     string       `json:"grant"`
	Statement string       `json:"statement"` // RFC 8785 text that the digest is of
	Votes     []SignedVote `json:"votes"`
}

// GrantRevocation asks to end a standing grant, with the password of a person.
type GrantRevocation struct {
	Name     string `json:"name"`
	Password string `json:"password"`
}

func (d *Daemon) grants(r *http.Request) (any, error) {
	limit, err := number(r.URL.Query().Get("limit"), 100)
	if err != nil {
		return nil, err
	}
	found, err := d.cfg.Gate.Grants(r.Context(), action.StandingFilter{Tenant: d.cfg.Tenant, Limit: limit})
	if err != nil {
		return nil, err
	}
	out := Grants{Grants: make([]Grant, len(found))}
	for i, g := range found {
		if out.Grants[i], err = d.grantOf(r, g); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *Daemon) grantOf(r *http.Request, g action.StandingGrant) (Grant, error) {
	now, err := d.cfg.Gate.Now(r.Context())
	out := Grant{ID: g.ID, State: "in_force", Tool: g.Tool, Agent: g.Agent, Principal: g.Principal, Source: g.Source, Digest: g.Digest.String(),
		Uses: g.Uses, MaxUses: g.MaxUses, ExpiresAt: stamp(g.ExpiresAt)}
	switch {
	case !g.RevokedAt.IsZero():
		out.State, out.RevokedBy = "revoked", d.nameOf(r, g.RevokedBy)
	case g.Uses >= g.MaxUses:
		out.State = "used_up"
	case !now.Before(g.ExpiresAt):
		out.State = "over"
	}
	return out, err
}

func (d *Daemon) signedGrant(r *http.Request) (any, error) {
	g, votes, err := d.cfg.Gate.StandingGrant(r.Context(), d.cfg.Tenant, r.PathValue("id"))
	if err != nil {
		return nil, grantRefusal(err)
	}
	if len(g.Scope.Members)+len(g.Scope.Targets) == 0 && !g.Scope.AnyTarget {
		return nil, refuse(http.StatusGone, "what the grant covered was erased with the action that it was made from")
	}
	out := SignedGrant{Grant: g.ID, Statement: string(approval.StandingStatement(g)), Votes: []SignedVote{}}
	for i, v := range votes {
		key, err := signedBy(v, d.cfg.VoteKeys)
		if err != nil {
			return nil, fmt.Errorf("signature %d: %w", i+1, err)
		}
		out.Votes = append(out.Votes, SignedVote{string(v.Envelope), string(key)})
	}
	return out, nil
}

// revokeGrant ends a grant for a person, after their own password.
func (d *Daemon) revokeGrant(r *http.Request) (any, error) {
	var in GrantRevocation
	if err := decodeBody(r, &in); err != nil {
		return nil, err
	}
	who, err := d.accountable(r, in.Name, in.Password, "revoked")
	if err != nil {
		return nil, err
	}
	g, err := d.cfg.Gate.RevokeGrant(r.Context(), d.cfg.Tenant, r.PathValue("id"), who.ID)
	if err != nil {
		return nil, grantRefusal(err)
	}
	return d.grantOf(r, g)
}

func grantRefusal(err error) error {
	switch {
	case errors.Is(err, action.ErrNotFound):
		return refuse(http.StatusNotFound, "there is no such grant; verbatim grants list shows them")
	case errors.Is(err, action.ErrState):
		return refuse(http.StatusConflict, "it has ended already; nothing was changed")
	case errors.Is(err, action.ErrIneligible):
		return refuse(http.StatusForbidden, "only who may sign it, an operator, or the person whose agent it is for revokes it; nothing was changed")
	}
	return err
}

package api

import (
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// The limits of a page of proposals: they hold arguments.
const (
	maxProposals     = 20
	maxProposalBytes = 8 << 20 // of arguments on one page; a single proposal may be more
)

// proposal is an action that waits for people, or for its caller to go on,
// with the arguments exactly as they were decided on.
type proposal struct {
	ID             string               `json:"actionId"`
	Tool           string               `json:"toolName"`
	Agent          string               `json:"agentName"`
	State          action.State         `json:"state"`
	Raw            string               `json:"rawArguments,omitempty"` // absent where it is no UTF-8
	Requested      string               `json:"requestedArguments"`
	Args           string               `json:"argsCanonicalJson"`
	ProposalHash   string               `json:"proposalHash"`
	ApprovalDigest string               `json:"approvalDigest"`
	PublicReason   string               `json:"publicReason,omitempty"`
	Requirements   []action.Requirement `json:"requirements"`
	RequestedAt    time.Time            `json:"requestedAt"`
	ExpiresAt      time.Time            `json:"expiresAt"`
}

// proposals is one page of them, newest first.
type proposals struct {
	Proposals []proposal `json:"proposals"`
	Next      string     `json:"next,omitempty"` // for before; absent on the last page
}

// suspended are the states of a proposal.
func suspended() []action.State { return []action.State{action.PendingApproval, action.Approved} }

// proposals lists what is suspended of the caller's principal.
func (a *API) proposals(w http.ResponseWriter, r *request) {
	f, err := a.filter(r, maxProposals)
	if err == nil && f.States == nil {
		f.States = suspended()
	}
	if err == nil && f.States[0] != action.PendingApproval && f.States[0] != action.Approved {
		err = canon.Refuse("/state", "enum", "the state of a proposal")
	}
	if err != nil {
		a.badRequest(w, http.StatusBadRequest, err)
		return
	}
	found, err := a.cfg.Actions.Actions(r.Context(), f)
	if err != nil {
		a.unavailable(w, err)
		return
	}
	writeJSON(w, http.StatusOK, "application/json", pageOf(r, found, f.Limit))
}

// pageOf shows those of the caller, up to the bounds of a page.
func pageOf(r *request, found []action.Action, most int) proposals {
	out, size := proposals{Proposals: []proposal{}}, 0
	for i, x := range found {
		if size += len(x.Payload.Raw) + len(x.Payload.Requested) + len(x.Payload.Args); size > maxProposalBytes && i > 0 {
			return out
		}
		out.Next = x.ID
		if theirs(r.caller, x) && x.Terms != nil {
			out.Proposals = append(out.Proposals, proposalOf(x))
		}
	}
	if len(found) < most {
		out.Next = ""
	}
	return out
}

func proposalOf(a action.Action) proposal {
	p := proposal{ID: a.ID, Tool: a.Tool, Agent: a.Agent, State: a.State, Requested: a.Payload.Requested, Args: a.Payload.Args,
		ProposalHash: a.Hash.String(), ApprovalDigest: a.Terms.Digest.String(), PublicReason: a.Decision.PublicReason,
		Requirements: a.Terms.Requirements, RequestedAt: a.Terms.RequestedAt.UTC(), ExpiresAt: a.Deadline.UTC()}
	if utf8.Valid(a.Payload.Raw) {
		p.Raw = string(a.Payload.Raw)
	}
	if p.Requirements == nil {
		p.Requirements = []action.Requirement{}
	}
	return p
}

package api

import (
	"net/http"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// explained is the answer to explain. The internal reason and the rules are
// not in it: they are for the operator.
type explained struct {
	Tool         string              `json:"toolName"`
	Code         verbatim.Code       `json:"code"`
	Stage        string              `json:"stage,omitempty"`
	Violations   canon.Violations    `json:"violations,omitempty"`
	Requested    string              `json:"requestedArguments,omitempty"`
	Canonical    string              `json:"argsCanonicalJson,omitempty"`
	ProposalHash string              `json:"proposalHash,omitempty"`
	Changes      []canon.Change      `json:"changes,omitempty"`
	Targets      []snapshot.Target   `json:"targets,omitempty"`
	Resolvers    []snapshot.Evidence `json:"resolvers,omitempty"`
	Decision     string              `json:"decision,omitempty"`
	PublicReason string              `json:"publicReason,omitempty"`
	DryRunFirst  bool                `json:"dryRunFirst,omitempty"`
	Limits       []limit             `json:"limits,omitempty"`
}

// limit is what the run would count against; what is left is not said.
type limit struct {
	Name     string `json:"name"`
	Window   string `json:"window"`
	Currency string `json:"currency,omitempty"`
	Amount   int64  `json:"amount"`
	Most     int64  `json:"most"`
}

// explain says what would become of a call. Nothing runs and nothing is
// recorded.
func (a *API) explain(w http.ResponseWriter, r *request) {
	var c verbatim.Call
	if err := read(w, r.Request, proposed(&c)); err != nil {
		a.refuseBody(w, err)
		return
	}
	e, err := a.cfg.Calls.Explain(r.Context(), r.caller, c)
	if err != nil {
		a.unavailable(w, err)
		return
	}
	out := explained{Tool: e.Tool, Code: e.Code, Stage: e.Stage, Violations: e.Violations, Requested: e.Requested, Canonical: e.Parsed,
		ProposalHash: e.ProposalHash, Changes: e.Changes, Targets: e.Targets, Resolvers: e.Evidence,
		PublicReason: e.Decision.PublicReason, DryRunFirst: e.NeedsDryRun}
	if e.Stage == "" {
		out.Decision = e.Decision.Effect.String()
	}
	for _, l := range e.Limits {
		out.Limits = append(out.Limits, limit{l.Name, string(l.Window), l.Currency, l.Amount, l.Most})
	}
	writeJSON(w, http.StatusOK, "application/json", out)
}

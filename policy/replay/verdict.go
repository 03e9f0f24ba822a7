package replay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/policy"
)

// Kind says how two decisions on one call compare.
type Kind string

// The kinds. Flip and Terms are changes that a caller or an approver notices.
const (
	Same         Kind = "same"
	Rules        Kind = "rules"        // the same decision, by other rules or another code
	Terms        Kind = "terms"        // both require approval: of other people, longer or shorter, or by another proof
	Flip         Kind = "flip"         // another decision
	Runtime      Kind = "runtime"      // denied by something other than policy, which policy cannot change
	Unreplayable Kind = "unreplayable" // see Why
)

// Why a call cannot be decided again.
const (
	WhyErased     = "erased"                 // its payload was destroyed
	WhyFacts      = "facts_not_recorded"     // recorded before roles, taint, turn and time were
	WhyUnreadable = "payload_unreadable"     // what is recorded is not what this version writes
	WhyRunContext = "run_context"            // the host gave an opaque run context, which is not recorded
	WhyNoTool     = "tool_not_in_catalog"    // the catalog no longer has the tool
	WhyDefinition = "definition_changed"     // its definition is another one now
	WhyClass      = "tool_class_changed"     // the catalog classes it otherwise now
	WhyRead       = "read_without_arguments" // an allowed read or handoff; its record holds no arguments
	WhyCandidate  = "candidate_failed"       // the candidate does not load, or was set aside because it does not answer
	WhyDropped    = "dropped"                // more calls came than a candidate beside the live policy could take
)

// Answer is what can be compared of a decision.
type Answer struct {
	Decision     string   `json:"decision"`
	Code         string   `json:"code,omitempty"`
	Rules        []string `json:"rules"`
	Requirements []string `json:"requirements,omitempty"` // of require_approval, as "admin:1|finance:2"
	TTL          string   `json:"ttl,omitempty"`
	StepUp       bool     `json:"stepUp,omitempty"`
}

// Verdict is what became of one recorded call.
type Verdict struct {
	Action string       `json:"action"`
	Tenant string       `json:"tenant"`
	Tool   string       `json:"tool"`
	Agent  string       `json:"agent"`
	At     time.Time    `json:"at"`
	State  action.State `json:"state,omitempty"`
	Kind   Kind         `json:"kind"`
	Why    string       `json:"why,omitempty"` // of an unreplayable call
	Was    Answer       `json:"was"`
	Is     Answer       `json:"is"`
	// Void: the call waits for its approval or has it, and the candidate's
	// rules for the tool are other ones than those that it binds.
	Void bool `json:"void,omitempty"`

	callID string
}

// CallID is the provider's id of the call, as the host stated it.
func (v Verdict) CallID() string { return v.callID }

// was is what the row says was decided when the call was proposed. A row with
// terms was told to wait for approval, whatever ended it later.
func was(a action.Action) Answer {
	out := Answer{Decision: a.Decision.Effect, Rules: sorted(a.Decision.Rules)}
	if a.Terms == nil {
		out.Code = refusal(a.Decision.Effect, a.Decision.Code)
		return out
	}
	out.Decision = policy.RequireApproval.String()
	out.Requirements, out.TTL, out.StepUp = requirements(a.Terms.Requirements), a.Terms.TTL.String(), a.Terms.StepUp
	return out
}

// is is the candidate's answer in the same form.
func is(d policy.Decision) Answer {
	out := Answer{Decision: d.Effect.String(), Rules: sorted(d.Rules), Code: refusal(d.Effect.String(), d.Code)}
	if d.Effect == policy.RequireApproval && d.Approval != nil {
		out.Requirements, out.TTL, out.StepUp = requirements(d.Approval.Requirements), d.Approval.TTL.String(), d.Approval.StepUp
	}
	return out
}

// ruleDenied is the code of a rule's own deny, which the gate writes where
// the engine gives none.
const ruleDenied = "policy_denied"

// refusal is the runtime reason of a deny; "" where a rule denied.
func refusal(effect, code string) string {
	if effect != policy.Deny.String() || code == ruleDenied {
		return ""
	}
	return code
}

// compare classes a pair of answers.
func compare(a, b Answer) Kind {
	switch {
	case a.Decision != b.Decision:
		return Flip
	case !slices.Equal(a.Requirements, b.Requirements) || a.TTL != b.TTL || a.StepUp != b.StepUp:
		return Terms
	case a.Code != b.Code || !slices.Equal(a.Rules, b.Rules):
		return Rules
	}
	return Same
}

func requirements(list []action.Requirement) []string {
	out := make([]string, len(list))
	for i, r := range list {
		groups := make([]string, len(r.AnyOf))
		for j, g := range r.AnyOf {
			groups[j] = fmt.Sprintf("%s:%d", g.Name, g.Votes)
		}
		slices.Sort(groups)
		out[i] = strings.Join(groups, "|")
	}
	slices.Sort(out)
	return out
}

func sorted(list []string) []string {
	out := append([]string{}, list...)
	slices.Sort(out)
	return out
}

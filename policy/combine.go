package policy

import (
	"slices"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// Combine joins the answers for one call, such as one per target: deny beats
// require_approval beats allow, and no answer at all is no_matching_rule.
//
// Among the winners the first gives reason and texts. Requirements of all
// winners count together, the shortest clock and the earliest expiry hold,
// StepUp and RaiseImpact of any that permits hold, and all their rules are
// named. The order of the arguments never changes the effect.
func Combine(answers ...Decision) Decision {
	if len(answers) == 0 {
		return refusal(ReasonNoMatchingRule, "no rule matches")
	}
	strongest := Allow
	for _, d := range answers {
		strongest = min(strongest, known(d.Effect))
	}
	var out Decision
	first := true
	for _, d := range answers {
		if known(d.Effect) != strongest {
			continue
		}
		if d = d.clone(); first {
			out, first = d, false
			continue
		}
		out = out.joined(d)
	}
	out.Effect = strongest
	if strongest != Deny {
		out.RaiseImpact = slices.ContainsFunc(answers, func(d Decision) bool { return d.RaiseImpact })
		out.ExpiresAt = earliest(answers)
	}
	return out
}

// known turns anything that is no effect into a deny.
func known(e Effect) Effect {
	if e > Allow {
		return Deny
	}
	return e
}

// joined adds a second winner of the same effect.
func (d Decision) joined(other Decision) Decision {
	if d.Effect == Deny {
		// A failure of the runtime is told before a rule's own decision.
		if d.Code == "" && other.Code != "" {
			d.Code, d.Reason, d.PublicReason = other.Code, other.Reason, other.PublicReason
		}
	}
	if d.PublicReason == "" && d.Code == "" {
		d.PublicReason = other.PublicReason
	}
	if d.ResultMode == "" {
		d.ResultMode = other.ResultMode
	}
	for _, rule := range other.Rules {
		if !slices.Contains(d.Rules, rule) {
			d.Rules = append(d.Rules, rule)
		}
	}
	d.Metadata = merged(d.Metadata, other.Metadata)
	if d.Effect == RequireApproval {
		d.Approval = joinedTerms(d.Approval, other.Approval)
	}
	return d
}

func merged(a, b map[string]string) map[string]string {
	if a == nil {
		return b
	}
	for k, v := range b {
		if _, taken := a[k]; !taken {
			a[k] = v
		}
	}
	return a
}

func joinedTerms(a, b *Approval) *Approval {
	var x, y Approval
	if a != nil {
		x = *a
	}
	if b != nil {
		y = *b
	}
	x, y = x.withDefaults(), y.withDefaults()
	x.TTL, x.PendingTTL = min(x.TTL, y.TTL), min(x.PendingTTL, y.PendingTTL)
	x.StepUp = x.StepUp || y.StepUp
	// A side without requirements asks the catalog's groups, which are not
	// known here and must not get lost beside the other side's.
	x.Default = x.Default || y.Default || (len(x.Requirements) == 0) != (len(y.Requirements) == 0)
	x.Requirements = together(x.Requirements, y.Requirements)
	return &x
}

// together adds the requirements of b that a does not have yet.
func together(a, b []action.Requirement) []action.Requirement {
	for _, r := range b {
		if !slices.ContainsFunc(a, func(s action.Requirement) bool { return slices.Equal(r.AnyOf, s.AnyOf) }) {
			a = append(a, r)
		}
	}
	return a
}

func earliest(answers []Decision) time.Time {
	var at time.Time
	for _, d := range answers {
		if !d.ExpiresAt.IsZero() && (at.IsZero() || d.ExpiresAt.Before(at)) {
			at = d.ExpiresAt
		}
	}
	return at
}

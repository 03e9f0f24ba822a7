package policy

import "github.com/seed-de4804fb/verbatim/action"

// HighImpact raises a mere allow on a high-impact call to require_approval: a
// call that the catalog or the policy (RaiseImpact) calls high-impact never
// runs without its own approval (semantics §7). It also gives groups to a
// require_approval that names none. groups are the catalog's, else the
// configuration's; without any the call is denied, because nobody could
// approve it. It may only make a decision stricter. Apply it to what
// [Evaluate] or [Combine] returned.
func HighImpact(d Decision, tool Tool, groups []action.Requirement) Decision {
	uncataloged := tool.Name != "" && !tool.Cataloged // nobody has looked at it
	high := tool.HighImpact || d.RaiseImpact || uncataloged
	switch known(d.Effect) {
	case Deny:
		d.Effect = Deny
		return d
	case Allow:
		if !high {
			return d
		}
	}
	d = d.clone()
	d.Effect = RequireApproval
	if d.Approval == nil {
		d.Approval = &Approval{}
	}
	*d.Approval = d.Approval.withDefaults()
	needed := d.Approval.Default || len(d.Approval.Requirements) == 0
	if needed {
		d.Approval.Requirements = together(d.Approval.Requirements, cloneRequirements(groups))
	}
	if needed && len(groups) == 0 {
		return Decision{Effect: Deny, Code: ReasonInvalidResult, PolicyVersion: d.PolicyVersion, Rules: d.Rules,
			Reason: "approval is required, but neither policy, catalog nor configuration names a group"}
	}
	return d
}

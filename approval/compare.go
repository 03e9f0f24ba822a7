package approval

import (
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// Moved names the member whose meaning has changed between the approved
// action and the same request walked again: a pointer of a resolved member,
// "targets", or "arguments". It is "" where nothing moved.
func Moved(old, now action.Action) string {
	if len(old.Evidence) != len(now.Evidence) {
		return "resolvers"
	}
	for i, e := range old.Evidence {
		n := now.Evidence[i]
		if e.Pointer != n.Pointer || e.Resolver != n.Resolver || e.Digest != n.Digest {
			return e.Pointer
		}
	}
	if canon.Sum(targets(old.Targets).Canonical()) != canon.Sum(targets(now.Targets).Canonical()) {
		return "targets"
	}
	if old.Payload.Args != now.Payload.Args {
		return "arguments"
	}
	return ""
}

// Stale names the first bound member other than targets that differs; "" if
// the approval still covers the action.
func Stale(old, now action.Action) string {
	switch {
	case old.Tenant != now.Tenant:
		return "tenant"
	case old.Principal != now.Principal:
		return "principal"
	case old.Agent != now.Agent:
		return "agentName"
	case old.Tool != now.Tool:
		return "toolName"
	case old.Definition != now.Definition:
		return "toolDefinitionDigest"
	case old.Hash != now.Hash:
		return "proposalHash"
	case old.Decision.PolicyVersion != now.Decision.PolicyVersion:
		return "policyVersion"
	case old.Task != now.Task:
		return "task"
	case old.GrantID != now.GrantID || old.GrantDigest != now.GrantDigest:
		return "grant"
	default:
		return ""
	}
}

package action

import "time"

// Stop is one turn of the freeze switch: while it stands, nothing that it
// covers starts, not even a read. What executes already is not cut.
type Stop struct {
	Tenant string // "" stops everything, of every tenant
	Agent  string // "" stops every agent
	Tool   string // "" stops every tool
	By     string // account id, or ByHost
	Reason string
	At     time.Time // database clock; set by the store
}

// ByHost is whoever sits at the machine and froze without an account.
// Freezing is safe and must be easy; lifting needs a person.
const ByHost = "host"

// Covers reports whether the switch stands in the way of a call. An empty
// field of the switch covers every value.
func (s Stop) Covers(tenant, agent, tool string) bool {
	return (s.Tenant == "" || s.Tenant == tenant) && (s.Agent == "" || s.Agent == agent) && (s.Tool == "" || s.Tool == tool)
}

// Kind names what the switch stops: everything, tenant, agent, tool, or
// agent_tool for one tool of one agent.
func (s Stop) Kind() string {
	switch {
	case s.Agent != "" && s.Tool != "":
		return "agent_tool"
	case s.Agent != "":
		return "agent"
	case s.Tool != "":
		return "tool"
	case s.Tenant != "":
		return "tenant"
	default:
		return "everything"
	}
}

// MayLift reports whether a person may lift a stop. Where the tenant has an
// active operator (operators), only an operator or whoever set the stop may;
// else any active account of the tenant. A stop of everything asks the same
// of the people of every tenant.
func (s Stop) MayLift(who Person, operators bool) bool {
	if !who.Active || s.Tenant != "" && who.Tenant != s.Tenant {
		return false
	}
	return !operators || s.By == who.ID || who.In(GroupOperator)
}

// GroupOperator is the group of those who may stop, revoke, reconcile and
// lift a stop.
const GroupOperator = "operator"

// In reports whether a person is in a group.
func (p Person) In(group string) bool {
	for _, g := range p.Groups {
		if g == group {
			return true
		}
	}
	return false
}

package identity

import "github.com/seed-de4804fb/verbatim/canon"

// Session is the authenticated context of one call. It comes from a token or
// from configuration, never from arguments, model output or what a client
// says about itself (semantics §4).
type Session struct {
	Tenant    string   // whose data; never empty
	Principal string   // the human or service whose authority the call carries
	Roles     []string // of the principal
	Agent     string   // agentName: the software that proposes
	Owner     string   // the human who owns the agent session; often the principal
	Task      string   // opaque id of the session's task; "" if none
	Grant     Grant    // authority delegated to the session; zero if none
	Taint     []string // labels set by the host, such as "read_untrusted_web"
}

// Grant names the authority that was delegated to a session.
type Grant struct {
	ID     string
	Digest canon.Digest
}

// IsZero reports whether no authority was delegated.
func (g Grant) IsZero() bool { return g == Grant{} }

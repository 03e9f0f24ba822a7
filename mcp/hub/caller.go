package hub

import (
	verbatim "github.com/seed-de4804fb/verbatim"
)

// Caller is who stands behind a session, and what of the servers exists for
// it. It comes from an authenticated token, never from a message.
type Caller struct {
	Session verbatim.Session
	// Servers and Tools narrow what exists; nil narrows nothing. Tools are
	// patterns of catalog names (server.tool).
	Servers []string
	Tools   []Pattern
	// Trace is the trace context of the request's headers. It goes to observers,
	// and decides nothing.
	Trace verbatim.Trace
}

func (c *Caller) sees(server string) bool { return c.Servers == nil || contains(c.Servers, server) }

func (c *Caller) may(tool string) bool { return c.Tools == nil || anyMatches(c.Tools, tool) }

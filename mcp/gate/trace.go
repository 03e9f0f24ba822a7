package gate

import (
	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// The members of _meta that carry a W3C trace context (MCP, SEP-414), and the
// longest that is looked at.
const (
	metaTraceParent = "traceparent"
	metaTraceState  = "tracestate"
	maxTrace        = 512
)

// traced is the trace context of a message, else that of what it came in. It
// decides nothing, so that one that cannot be read is none.
func (d *Desk) traced(m *wire.Message) verbatim.Trace {
	if parent := shortMeta(m, metaTraceParent); parent != "" {
		return verbatim.Trace{Parent: parent, State: shortMeta(m, metaTraceState)}
	}
	return d.cfg.Trace
}

func shortMeta(m *wire.Message, key string) string {
	raw, found, err := m.Meta(key)
	if err != nil || !found || len(raw) > maxTrace {
		return ""
	}
	v, err := canon.Decode(raw, canon.Options{})
	if err != nil || v.Kind() != canon.String {
		return ""
	}
	return v.Text()
}

// wired is how a call came.
func (d *Desk) wired(m *wire.Message) verbatim.Wire {
	w := verbatim.Wire{Method: m.Method(), Version: m.ProtocolVersion(), Request: string(m.ID().Raw()), Transport: d.cfg.Transport}
	if w.Version == "" {
		w.Version = d.cfg.Version
	}
	if w.Transport == "" {
		w.Transport = "pipe"
	}
	return w
}

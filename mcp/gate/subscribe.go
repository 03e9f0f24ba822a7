package gate

import (
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// listenMethod opens a stream of notifications in the stateless era; what
// comes on it bears the id of the request (MCP 2026-07-28).
const listenMethod = "subscriptions/listen"

const pathFollowed = "/params/notifications/resourceSubscriptions"

// narrowed leaves resources out of a wish to listen that no pattern names.
func (r Reach) narrowed(m *wire.Message) (*wire.Message, error) {
	if _, found, err := m.Member(pathFollowed); err != nil || !found {
		return m, err
	}
	return m.WithElements(pathFollowed, func(raw []byte) bool {
		uri, ok := wire.Text(raw)
		return ok && r.resource(uri)
	})
}

// onStream gives what the server sends on a stream the id under which the
// client opened it. ok is false for a stream that the client does not have.
func (c *conn) onStream(m *wire.Message) (out *wire.Message, ok bool) {
	raw, found, err := m.Meta(wire.MetaSubscriptionID)
	if err != nil || !found {
		return m, err == nil && m.Method() != "notifications/subscriptions/acknowledged"
	}
	known, ok := wire.ParseID(raw)
	if !ok {
		return nil, false
	}
	id, ok := c.streamOf(known)
	if !ok {
		return nil, false
	}
	out, err = m.WithMeta(wire.MetaSubscriptionID, id.Raw())
	return out, err == nil
}

// streamOf finds the client's stream by the id that the server knows.
func (c *conn) streamOf(known wire.ID) (wire.ID, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.live {
		if f.stream && !f.silent && !f.upstream.IsZero() && f.upstream.Key() == known.Key() {
			return f.id, true
		}
	}
	return wire.ID{}, false
}

// closing puts the client's id into the answer that ends a stream.
func closing(answer, m *wire.Message) (*wire.Message, error) {
	if _, found, err := answer.Meta(wire.MetaSubscriptionID); err != nil || !found {
		return answer, err
	}
	return answer.WithMeta(wire.MetaSubscriptionID, m.ID().Raw())
}

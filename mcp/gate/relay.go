package gate

import (
	"strconv"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// notification passes a client's notification on, or takes a cancellation.
func (c *conn) notification(m *wire.Message) {
	if m.Method() == "notifications/cancelled" {
		c.cancelled(m)
		return
	}
	if fromClient[m.Method()] != wire.KindNotification {
		c.log.Warn("a notification of the client was dropped", "method", m.Method())
		return
	}
	out, err := m.WithoutOwnMeta()
	if err == nil {
		err = c.up.Tell(out)
	}
	if err != nil {
		c.log.Warn("a notification did not reach the server", "error", err)
	}
}

// cancelled ends the waiting of one request. A run that has begun goes on:
// only nobody waits for its answer any more. The server is told under the id
// that it knows.
func (c *conn) cancelled(m *wire.Message) {
	raw, found, err := m.Member("/params/requestId")
	if err != nil || !found {
		return
	}
	id, ok := wire.ParseID(raw)
	if !ok {
		return
	}
	c.mu.Lock()
	f, live := c.live[id.Key()]
	var known wire.ID
	if live {
		f.silent, known = true, f.upstream
		f.cancel()
	}
	c.mu.Unlock()
	if known.IsZero() {
		return
	}
	out, err := m.WithMember("/params/requestId", known.Raw())
	if err == nil {
		err = c.up.Tell(out)
	}
	if err != nil {
		c.log.Warn("a cancellation did not reach the server", "error", err)
	}
}

// maxOwed bounds the requests of a server that a client has not answered.
const maxOwed = 1000

// fromServer passes on what a server may send by itself.
func (c *conn) fromServer(m *wire.Message) {
	if fromServer[m.Method()] != m.Kind() {
		c.log.Warn("a message of the server was dropped", "method", m.Method())
		if m.Kind() == wire.KindRequest {
			c.refuseServer(m.ID())
		}
		return
	}
	if !c.desk.cfg.Reach.allows(m) {
		return
	}
	if m.Kind() == wire.KindNotification {
		var ok bool
		if m, ok = c.onStream(m); !ok {
			c.log.Warn("a message of the server was dropped: the client has no such stream")
			return
		}
	}
	switch {
	case m.Kind() == wire.KindRequest:
		if !c.owe(m) {
			c.refuseServer(m.ID())
			return
		}
	case m.Method() == "notifications/progress":
		if !c.progresses(m) {
			return
		}
	case m.Method() == "notifications/tools/list_changed":
		c.roster.Stale()
	case m.Method() == "notifications/cancelled":
		c.forgetOwed(m)
	}
	out, err := m.WithoutOwnMeta()
	if err != nil {
		c.log.Warn("a message of the server was refused", "error", err)
		return
	}
	c.send(out)
}

// progresses: it is of a request that the client has in flight and gave this
// token to.
func (c *conn) progresses(m *wire.Message) bool {
	raw, found, err := m.Member("/params/progressToken")
	if err != nil || !found {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tokens[string(raw)] > 0
}

func (c *conn) refuseServer(id wire.ID) {
	if m := c.failure(id, wire.CodeMethodNotFound, "this method does not pass the gateway"); m != nil {
		c.up.Reply(m)
	}
}

// noteCapabilities keeps what the client says that it can do for a server.
func (c *conn) noteCapabilities(m *wire.Message) {
	can := map[string]bool{}
	for _, name := range needs {
		_, found, err := m.Member("/params/capabilities/" + name)
		can[name] = found && err == nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.can = can
}

// owe notes that the client owes the server an answer. It owes none to what it
// has not declared that it can do, nor twice for one id.
func (c *conn) owe(m *wire.Message) bool {
	id := m.ID()
	c.mu.Lock()
	defer c.mu.Unlock()
	if need := needs[m.Method()]; need != "" && !c.can[need] {
		c.log.Warn("the server asks for what the client has not declared", "method", m.Method())
		return false
	}
	if len(c.asked) >= maxOwed || c.asked[id.Key()] {
		return false
	}
	c.asked[id.Key()] = true
	return true
}

func (c *conn) forgetOwed(m *wire.Message) {
	raw, found, err := m.Member("/params/requestId")
	if err != nil || !found {
		return
	}
	if id, ok := wire.ParseID(raw); ok {
		c.mu.Lock()
		delete(c.asked, id.Key())
		c.mu.Unlock()
	}
}

// answerToServer passes a client's answer on if the server asked for it.
func (c *conn) answerToServer(m *wire.Message) {
	c.mu.Lock()
	owed := c.asked[m.ID().Key()]
	delete(c.asked, m.ID().Key())
	c.mu.Unlock()
	if !owed {
		c.log.Warn("an answer of the client to nothing was dropped", "id", strconv.Quote(m.ID().Key()))
		return
	}
	if err := c.up.Tell(m); err != nil {
		c.log.Warn("an answer did not reach the server", "error", err)
	}
}

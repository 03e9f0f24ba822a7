package gate

import (
	"context"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

const toolsChanged = "notifications/tools/list_changed"

// announce tells the client when the catalog is replaced, until ctx ends: from
// then on it is shown other tools, or the same under another schema.
func (c *conn) announce(ctx context.Context) {
	change := Changes(c.desk.cfg.Binder)
	for {
		select {
		case <-ctx.Done():
			return
		case <-change:
		}
		change = Changes(c.desk.cfg.Binder)
		for _, m := range c.news() {
			c.send(m)
		}
	}
}

// news are the notifications that the tools have changed: none before the
// client has seen any. In the stateless era each belongs to a stream that
// asked for it (MCP 2026-07-28, subscriptions/listen).
func (c *conn) news() (out []*wire.Message) {
	if !c.roster.answers() {
		return nil
	}
	m, err := wire.NewNotification(toolsChanged, nil)
	if err != nil {
		c.log.Error("a notification could not be built", "error", err)
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.meta == nil {
		return []*wire.Message{m}
	}
	for _, f := range c.live {
		if !f.listens || f.silent {
			continue
		}
		if marked, err := m.WithMeta(wire.MetaSubscriptionID, f.id.Raw()); err == nil {
			out = append(out, marked)
		}
	}
	return out
}

// listensForTools reports whether a request is a stream that asks for changes
// of the tools.
func listensForTools(m *wire.Message) bool {
	if m.Method() != listenMethod {
		return false
	}
	raw, found, err := m.Member("/params/notifications/toolsListChanged")
	return err == nil && found && string(raw) == "true"
}

package netguard

import (
	"context"
	"net/netip"
)

// SetLookup replaces the name system.
func (c *Client) SetLookup(lookup func(ctx context.Context, host string) ([]netip.Addr, error)) {
	c.guard.lookup = lookup
}

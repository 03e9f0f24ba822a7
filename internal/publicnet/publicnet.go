// Package publicnet tells public addresses from all others.
//
// It takes an address and answers yes or no. It knows the networks of the
// IANA special-purpose registries and the addresses at which clouds answer
// for their machines. It promises that an IPv4 address written inside an IPv6
// one is judged as no public address or as that IPv4 address. It must never
// look anything up.
package publicnet

import (
	"net/netip"
	"slices"
)

// special4 are the networks of the IANA special-purpose registry that are
// not globally reachable, multicast, and the addresses at which clouds answer
// for their machines.
var special4 = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
	"172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/3")

// Of IPv6 only global unicast is public, without what is reserved in it and
// without networks that lead to an IPv4 address (Teredo, 6to4).
var (
	public6  = netip.MustParsePrefix("2000::/3")
	special6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, p := range list {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

// Holds reports whether an address is globally reachable unicast. An address
// with a zone never is.
func Holds(addr netip.Addr) bool {
	addr = addr.Unmap()
	holds := func(p netip.Prefix) bool { return p.Contains(addr) }
	switch {
	case !addr.IsValid() || addr.Zone() != "":
		return false
	case addr.Is4():
		return !slices.ContainsFunc(special4, holds)
	default:
		return public6.Contains(addr) && !slices.ContainsFunc(special6, holds)
	}
}

package resolve

import (
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/internal/publicnet"
)

// urlHost is a name in ASCII or an address.
type urlHost struct {
	name string // empty for an address
	addr netip.Addr
}

// String writes the host as it stands in a URL.
func (h urlHost) String() string {
	switch {
	case h.name != "":
		return h.name
	case h.addr.Is6():
		return "[" + h.addr.String() + "]"
	default:
		return h.addr.String()
	}
}

// parseHost reads the host of a URL (WHATWG URL, host parsing). An IPv4
// address may be in any of the forms of inet_aton; an IPv4 address within an
// IPv6 one is that IPv4 address, for that is where a connection goes. The dot
// of the root is dropped.
func parseHost(s string) (h urlHost, ok bool) {
	if inner, bracket := strings.CutPrefix(s, "["); bracket {
		inner, ok = strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		return urlHost{addr: addr.Unmap()}, ok && err == nil && addr.Is6() && addr.Zone() == ""
	}
	if len(s) > 4*3*maxDomainBytes {
		return h, false
	}
	_, decoded, ok := normalPercent(s, "")
	if !ok || !utf8.ValidString(decoded) {
		return h, false
	}
	name, ok := domainASCII(strings.TrimSuffix(decoded, "."))
	if !ok {
		return h, false
	}
	if !endsInNumber(name) {
		return urlHost{name: name}, true
	}
	addr, ok := parseIPv4(name)
	return urlHost{addr: addr}, ok
}

// endsInNumber reports whether a name must be an IPv4 address (WHATWG URL,
// ends-in-a-number checker).
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if allDigits(last) {
		return true
	}
	_, ok := parseIPv4Number(last)
	return ok
}

// parseIPv4 reads one to four parts; the last fills all bytes that are left.
func parseIPv4(s string) (netip.Addr, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var bits uint64
	for i, part := range parts {
		n, ok := parseIPv4Number(part)
		width := 8
		if i == len(parts)-1 {
			width = 8 * (5 - len(parts))
		}
		if !ok || n >= 1<<width {
			return netip.Addr{}, false
		}
		bits = bits<<width | n
	}
	return netip.AddrFrom4([4]byte{byte(bits >> 24), byte(bits >> 16), byte(bits >> 8), byte(bits)}), true
}

// parseIPv4Number reads a decimal number, an octal one after 0 or a
// hexadecimal one after 0x. "0x" alone is zero, as the standard says.
func parseIPv4Number(s string) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(s, "0x"):
		s, base = s[2:], 16
		if s == "" {
			return 0, true
		}
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil && n <= math.MaxUint32 && s[0] != '+' && !strings.Contains(s, "_")
}

// innerNames are never names of the public domain name system (RFC 6761,
// RFC 6762, RFC 8375, ICANN resolution on .internal), or are used as if they
// were not. Names of one label are inner names too.
var innerNames = []string{"localhost", "localdomain", "local", "internal", "intranet", "private", "lan", "corp", "home", "home.arpa", "test", "invalid", "onion"}

func isInner(name string) bool {
	return !strings.Contains(name, ".") || slices.ContainsFunc(innerNames, func(n string) bool {
		return name == n || strings.HasSuffix(name, "."+n)
	})
}

// accepts applies the hosts and networks of the options. What they declare
// need not be public.
func (u *URL) accepts(h urlHost) bool {
	if h.name == "" && slices.ContainsFunc(u.networks, func(p netip.Prefix) bool { return p.Contains(h.addr) }) {
		return true
	}
	if len(u.hosts) > 0 {
		return slices.ContainsFunc(u.hosts, func(pattern string) bool { return matchesHost(pattern, h) })
	}
	if h.name == "" {
		return publicnet.Holds(h.addr)
	}
	return !isInner(h.name)
}

func matchesHost(pattern string, h urlHost) bool {
	if parent, below := strings.CutPrefix(pattern, "*"); below {
		return h.name != "" && strings.HasSuffix(h.name, parent)
	}
	return pattern == h.String()
}

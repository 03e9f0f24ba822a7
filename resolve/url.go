package resolve

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/seed-de4804fb/verbatim/canon"
)

// RuleURL is what a refusal of [URL] names when the text is no URL of the
// accepted kind. Its other rule is [RuleUnresolved].
const RuleURL = "url"

// URLRules is the version of the rules of [URL]. It moves when the rules, the
// tables of Unicode or the list of special networks do.
const URLRules = "url-1/idna-" + idna.UnicodeVersion

// URLOptions configure a [URL] resolver. All are optional.
type URLOptions struct {
	// Schemes are those accepted, of http, https, ws, wss and ftp; http and
	// https where it is empty.
	Schemes []string
	// Hosts are the only ones accepted, where there are any: a name, an
	// address, or *.NAME for every name below NAME but not NAME itself.
	Hosts []string
	// Ports are the only ones accepted, where there are any, besides the
	// default ports of the schemes.
	Ports []uint16
	// Networks are accepted although they are not public. Only addresses that
	// stand in the URL are meant.
	Networks []netip.Prefix
}

// URL turns a URL into the one spelling of it: scheme and host in lower case,
// the host in ASCII (IDNA) or as a canonical address, no default port, no dot
// segments, percent-encoding only where it is needed and in upper case, no
// fragment. The fragment never reaches a server, so two URLs that differ in
// it are one target.
//
// It reads a URL as the WHATWG standard does, but refuses what programs read
// in more than one way and that standard repairs: a user name or password,
// backslashes, white space, control characters, a missing or third slash
// before the host, percent signs that encode nothing, bytes that are not
// UTF-8, encoded slashes or dots that would be dot segments to a server that
// decodes again.
//
// An address that is not public, or a name that is never public, such as
// localhost, is refused unless Hosts or Networks declare it. That is no proof
// against server-side requests to inner addresses: a public name may lead to
// any address, and only who connects can check which.
type URL struct {
	schemes  []string
	hosts    []string
	ports    []uint16
	networks []netip.Prefix
	version  string
}

var _ Resolver = (*URL)(nil)

// defaultPorts are those of the special schemes of the WHATWG standard.
var defaultPorts = map[string]uint16{"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}

// NewURL checks the options.
func NewURL(opt URLOptions) (*URL, error) {
	u := &URL{schemes: sorted(opt.Schemes), ports: sorted(opt.Ports)}
	if len(u.schemes) == 0 {
		u.schemes = []string{"http", "https"}
	}
	for _, s := range u.schemes {
		if defaultPorts[s] == 0 {
			return nil, fmt.Errorf("scheme %q is none of %s", s, strings.Join(sortedKeys(defaultPorts), ", "))
		}
	}
	if slices.Contains(u.ports, 0) {
		return nil, fmt.Errorf("there is no port 0")
	}
	for _, pattern := range opt.Hosts {
		host, err := hostPattern(pattern)
		if err != nil {
			return nil, err
		}
		u.hosts = append(u.hosts, host)
	}
	u.hosts = sorted(u.hosts)
	var networks []string
	for _, n := range opt.Networks {
		if !n.IsValid() || n.Masked() != n || n.Addr().Is4In6() {
			return nil, fmt.Errorf("network %s is not in the form 10.1.0.0/16 without bits behind the mask", n)
		}
		u.networks = append(u.networks, n)
		networks = append(networks, n.String())
	}
	var ports []string
	for _, p := range u.ports {
		ports = append(ports, strconv.Itoa(int(p)))
	}
	var err error
	u.version, err = configured(URLRules, textsMember("schemes", u.schemes), textsMember("hosts", u.hosts),
		textsMember("ports", ports), textsMember("networks", sorted(networks)))
	return u, err
}

func sorted[T interface{ ~string | ~uint16 }](list []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// hostPattern returns a host of the options as answers spell it.
func hostPattern(pattern string) (string, error) {
	name, below := strings.CutPrefix(pattern, "*.")
	h, ok := parseHost(name)
	if !ok || below && h.addr.IsValid() {
		return "", fmt.Errorf("host %q is no name, no address and not in the form *.NAME", pattern)
	}
	if below {
		return "*." + h.String(), nil
	}
	return h.String(), nil
}

// Roles tells which roles the rule of a catalog may bind.
func (u *URL) Roles() Roles { return onlyValue() }

// maxURLBytes is the longest URL, as it is said and as it is answered.
const maxURLBytes = 8192

// Resolve answers the URL.
func (u *URL) Resolve(_ context.Context, in map[string]canon.Value) (Answer, error) {
	refuse := func(rule, expected string) (Answer, error) {
		return Answer{}, canon.Refuse("/"+RoleValue, rule, expected)
	}
	text, err := valueText(in, RuleURL, "a URL as a string")
	if err != nil {
		return Answer{}, err
	}
	p, fault := splitURL(text)
	if fault != "" {
		return refuse(RuleURL, fault)
	}
	if !slices.Contains(u.schemes, p.scheme) {
		return refuse(RuleURL, "a URL that starts with one of "+strings.Join(u.schemes, "://, ")+"://")
	}
	host, ok := parseHost(p.host)
	if !ok {
		return refuse(RuleURL, "a host name in letters of one script, or an address")
	}
	if !u.accepts(host) {
		return refuse(RuleUnresolved, "a public host, or one that the catalog declares")
	}
	port, ok := parsePort(p.port, defaultPorts[p.scheme])
	if !ok {
		return refuse(RuleURL, "a port from 1 to 65535")
	}
	if port != 0 && len(u.ports) > 0 && !slices.Contains(u.ports, port) {
		return refuse(RuleUnresolved, "a port that the catalog declares")
	}
	path, fault := normalPath(p.path)
	if fault != "" {
		return refuse(RuleURL, fault)
	}
	query, fault := normalQuery(p.query)
	if fault != "" {
		return refuse(RuleURL, fault)
	}
	out := p.scheme + "://" + host.String() + portText(port) + path + query
	if len(out) > maxURLBytes {
		return refuse(RuleURL, urlTooLong)
	}
	return textAnswer(u.version, out), nil
}

// parsePort returns zero for the default port and for none.
func parsePort(text string, standard uint16) (uint16, bool) {
	if text == "" {
		return 0, true
	}
	if !allDigits(text) {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, false
	}
	if uint16(n) == standard {
		return 0, true
	}
	return uint16(n), true
}

func portText(port uint16) string {
	if port == 0 {
		return ""
	}
	return ":" + strconv.Itoa(int(port))
}

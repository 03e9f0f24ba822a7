package netguard

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"

	"github.com/seed-de4804fb/verbatim/internal/publicnet"
)

// Transport makes round trips to one configured server, under the same rules
// as a fetch: only public addresses and those in listed networks, plain HTTP
// to listed ones only, no proxy, no redirect, nothing packed, and each request
// on a connection of its own, so that none is sent twice. It has no time limit
// but that of each request's context. It fails with [ErrURL] for an address
// that it would not go to.
func Transport(base string, networks []netip.Prefix, roots *x509.CertPool) (http.RoundTripper, error) {
	c, err := New(Options{Networks: networks, Roots: roots})
	if err != nil {
		return nil, err
	}
	u, err := c.parse(base)
	if err != nil {
		return nil, err
	}
	by := c.secure
	if u.Scheme == "http" {
		by = c.plain
	}
	t := by.Transport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 0 // an answer comes when the tool is done
	return t, nil
}

// newHTTP makes a client that dials by the guard alone. Compression is off:
// the limit of size would be one of packed bytes for some readers.
func newHTTP(dial func(context.Context, string, string) (net.Conn, error), opt Options) *http.Client {
	return &http.Client{
		Timeout:       opt.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  nil, // not that of the environment, which would connect in our place
			DialContext:            dial,
			TLSClientConfig:        &tls.Config{RootCAs: opt.Roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    opt.Timeout,
			ResponseHeaderTimeout:  opt.Timeout,
			MaxResponseHeaderBytes: maxHeaderBytes,
			DisableCompression:     true,
			DisableKeepAlives:      true, // each fetch asks for the address anew
		},
	}
}

// guard decides which addresses are reached.
type guard struct {
	networks []netip.Prefix
	lookup   func(ctx context.Context, host string) ([]netip.Addr, error)
}

func systemLookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

func (g *guard) listed(addr netip.Addr) bool {
	addr = addr.Unmap()
	return slices.ContainsFunc(g.networks, func(p netip.Prefix) bool { return p.Contains(addr) })
}

func (g *guard) allowed(addr netip.Addr) bool { return g.listed(addr) || publicnet.Holds(addr) }

func (g *guard) dial(ctx context.Context, _, at string) (net.Conn, error) {
	return g.connect(ctx, at, g.allowed)
}

func (g *guard) dialListed(ctx context.Context, _, at string) (net.Conn, error) {
	return g.connect(ctx, at, g.listed)
}

// connect asks for the addresses once and connects to one of those, never to
// the name again. One forbidden address among them forbids all: a name that
// leads inwards has no business here.
func (g *guard) connect(ctx context.Context, at string, allowed func(netip.Addr) bool) (net.Conn, error) {
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		return nil, ErrURL
	}
	addrs, err := g.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(addrs) == 0 || slices.ContainsFunc(addrs, func(a netip.Addr) bool { return !allowed(a) }) {
		return nil, ErrForbidden
	}
	dialer := net.Dialer{ControlContext: func(_ context.Context, _, real string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(real)
		if err != nil || !allowed(to.Addr()) {
			return ErrForbidden
		}
		return nil
	}}
	for _, a := range addrs {
		conn, dialed := dialer.DialContext(ctx, "tcp", net.JoinHostPort(a.String(), port))
		if dialed == nil {
			return conn, nil
		}
		err = dialed
	}
	return nil, err
}

func (g *guard) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	return g.lookup(ctx, host)
}

package daemon

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// pageTries bounds how often a free port is looked for that both loopback
// addresses have.
const pageTries = 20

// openPage listens for browsers. If the port is taken it takes a free one,
// unless the page has an origin: its port is known by heart then.
func (d *Daemon) openPage() ([]net.Listener, error) {
	open, err := listenBoth(d.cfg.Listen)
	if err != nil && d.cfg.Origin != "" {
		return nil, fmt.Errorf("open the page: %w", err)
	}
	if err != nil {
		at, parseErr := netip.ParseAddrPort(d.cfg.Listen)
		if parseErr != nil {
			return nil, parseErr
		}
		var freeErr error
		if open, freeErr = listenBoth(netip.AddrPortFrom(at.Addr(), 0).String()); freeErr != nil {
			return nil, fmt.Errorf("open the page: %w", errors.Join(err, freeErr))
		}
		d.log.Warn("the page's address is taken, another one is used", "wanted", d.cfg.Listen, "got", open[0].Addr().String())
	}
	if d.cfg.TLS != nil {
		for i := range open {
			open[i] = tls.NewListener(open[i], d.cfg.TLS)
		}
	}
	return open, nil
}

// listenBoth listens on an address, and where it is a loopback address on the
// other one as well: browsers look for localhost at either, and somebody else
// could wait there.
func listenBoth(address string) ([]net.Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		open, err := listenAt(at)
		if err == nil || at.Port() != 0 || n == pageTries {
			return open, err
		}
	}
}

func listenAt(at netip.AddrPort) ([]net.Listener, error) {
	first, err := net.Listen("tcp", at.String())
	if err != nil {
		return nil, err
	}
	twin, ok := twinOf(at.Addr())
	if !ok {
		return []net.Listener{first}, nil
	}
	port := first.Addr().(*net.TCPAddr).Port
	second, err := net.Listen("tcp", net.JoinHostPort(twin, strconv.Itoa(port)))
	if err == nil {
		return []net.Listener{first, second}, nil
	}
	if !exists(twin) { // a machine without that address
		return []net.Listener{first}, nil
	}
	return nil, errors.Join(err, first.Close())
}

func twinOf(at netip.Addr) (string, bool) {
	switch at.String() {
	case "127.0.0.1":
		return "::1", true
	case "::1":
		return "127.0.0.1", true
	default:
		return "", false
	}
}

// exists reports whether the machine has an address at all.
func exists(address string) bool {
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	return err == nil && l.Close() == nil
}

func closeAll(ls []net.Listener) {
	for _, l := range ls {
		_ = l.Close() // it is of no use any more
	}
}

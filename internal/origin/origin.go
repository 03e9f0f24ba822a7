// Package origin reads the one public address of the approvers' page.
//
// In: the text of a setting. Out: an [Origin], from which everything else
// follows: the name that passkeys belong to, the Host and Origin headers that
// are accepted, and the flags of cookies. It fails with [ErrOrigin].
//
// It promises that an Origin is spelled exactly as browsers spell it, so that
// it may be compared as bytes, and that plain http leads to this machine only.
// It must never guess what an operator meant.
package origin

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// ErrOrigin is returned for what is no origin of a page.
var ErrOrigin = errors.New("origin must be https://HOST[:PORT], or http://localhost[:PORT]")

// Origin is scheme, host and port (RFC 6454 §4). The zero Origin is none.
type Origin struct{ scheme, host string }

// Parse reads an origin as browsers write it: in lower case, without a default
// port, a path or anything else (RFC 6454 §6.2). Plain http is for names and
// addresses of this machine. It fails with ErrOrigin.
func Parse(text string) (Origin, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme+"://"+u.Host != text || strings.ToLower(text) != text {
		return Origin{}, fmt.Errorf("%w, in lower case and nothing behind it", ErrOrigin)
	}
	if !plain(u) {
		return Origin{}, fmt.Errorf("%w: browsers write this one in another way", ErrOrigin)
	}
	switch {
	case u.Scheme == "https", u.Scheme == "http" && Loopback(u.Host):
		return Origin{u.Scheme, u.Host}, nil
	default:
		return Origin{}, ErrOrigin
	}
}

// plain: a name in ASCII, or an address; a port that is needed.
func plain(u *url.URL) bool {
	if strings.ContainsFunc(u.Host, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("%*,;@\\", r) }) {
		return false
	}
	if port := u.Port(); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		standard := u.Scheme == "https" && n == 443 || u.Scheme == "http" && n == 80
		return err == nil && n > 0 && !standard && strconv.FormatUint(n, 10) == port
	}
	return !strings.HasSuffix(u.Host, ":") && !strings.HasSuffix(u.Host, ".")
}

// String returns the origin as browsers write it; "" for the zero Origin.
func (o Origin) String() string {
	if o.host == "" {
		return ""
	}
	return o.scheme + "://" + o.host
}

// Host is the Host header of requests to the origin.
func (o Origin) Host() string { return o.host }

// Secure reports whether browsers reach the origin over TLS.
func (o Origin) Secure() bool { return o.scheme == "https" }

// Named reports whether passkeys can belong to the origin: to a name, never to
// an address (WebAuthn Level 3 §5.1.3), over TLS or on localhost.
func (o Origin) Named() bool {
	name := Name(o.host)
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return o.host != "" && err != nil && (o.Secure() || name == "localhost")
}

// Name is a host without its port.
func Name(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// Loopback reports whether a host, with or without a port, is a name of this
// machine that no name server can point elsewhere.
func Loopback(host string) bool {
	switch Name(host) {
	case "localhost", "127.0.0.1", "[::1]", "::1":
		return true
	default:
		return false
	}
}

package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// Config is one server.
type Config struct {
	// URL is the server's MCP endpoint: https, or http to this machine.
	URL string
	// Credential returns the header that authenticates the gateway to the
	// server, asked for each request; nil sends none. It is the gateway's own,
	// never a client's.
	Credential func(ctx context.Context) (name, value string, err error)
	// Refused, if not nil, is told of a credential that the server refused.
	Refused func(value string)
	// Roots are PEM certificates that vouch for the server beside the system's.
	Roots  []byte
	Limits wire.Limits
	Log    *slog.Logger // nil discards
}

// The times that are not the caller's.
const (
	connectTime = 10 * time.Second
	headerTime  = 15 * time.Minute // an answer without a stream comes when the tool is done
	tellTime    = 30 * time.Second
	closeTime   = 2 * time.Second
)

var errAddress = errors.New("the address must be https://HOST/..., or http:// to this machine, without a user and fragment")

// CheckURL reports whether an address may be a server's.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return errAddress
	}
	if u.Scheme == "https" || u.Scheme == "http" && local(u.Hostname()) {
		return nil
	}
	return errAddress
}

// local: this machine, by a name that no resolver can move.
func local(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

var errRoots = errors.New("the certificates of the server are not PEM")

// New returns a line to a server. Nothing is sent yet.
func New(cfg Config) (*Line, error) {
	if err := CheckURL(cfg.URL); err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if cfg.Roots != nil {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool() // a system without any: only the given ones count
		}
		if !pool.AppendCertsFromPEM(cfg.Roots) {
			return nil, errRoots
		}
		secure.RootCAs = pool
	}
	dialer := &net.Dialer{Timeout: connectTime}
	l := &Line{cfg: cfg, greetings: make(chan struct{}), replying: make(chan struct{}, maxReplies),
		http: &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: secure, TLSHandshakeTimeout: connectTime,
			ResponseHeaderTimeout: headerTime, MaxResponseHeaderBytes: 64 << 10, MaxIdleConnsPerHost: 64,
			IdleConnTimeout: 90 * time.Second, DisableCompression: true, ForceAttemptHTTP2: true}}
	var err error
	if l.url, err = url.Parse(cfg.URL); err != nil {
		return nil, errAddress
	}
	l.near = nearTo(l.url, dialer)
	l.end, l.stop = context.WithCancel(context.Background())
	return l, nil
}

// nearTo is the way to a server on this machine without encryption; nil where
// it has none.
func nearTo(u *url.URL, dialer *net.Dialer) *near {
	if u.Scheme != "http" || !nearWorks {
		return nil
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return &near{address: net.JoinHostPort(u.Hostname(), port), dialer: *dialer}
}

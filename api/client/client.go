package client

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config is a client. No field that is missing weakens anything: New fails.
type Config struct {
	// URL is the gateway's origin, such as https://gate.example.com. Plain http
	// goes to loopback addresses only.
	URL string
	// Token gives the bearer token for one request; required.
	Token func(ctx context.Context) (string, error)
	// Transport is how requests travel; nil is a transport of the client's own.
	Transport http.RoundTripper
	// Tries is how often a request is sent at most where repeating is safe; 0
	// means 4, at most 10.
	Tries int
	// Timeout bounds one try of a call beyond the time that it is held for
	// people; 0 means 5 minutes.
	Timeout time.Duration
	// Rest is the first pause before a request is repeated, which doubles; 0
	// means 200 ms.
	Rest time.Duration
}

// Client is safe for concurrent use.
type Client struct {
	cfg    Config
	origin string
	http   *http.Client
}

// The limits of a client.
const (
	maxAnswer    = 64 << 20 // bytes
	defaultTries = 4
	mostTries    = 10
	quick        = 30 * time.Second // for what does not run a tool
	longestRest  = 10 * time.Second
)

var (
	// ErrUnclear: the request was sent, and no answer came. Without a key it
	// was not repeated, and nobody knows whether the gateway got it.
	ErrUnclear = errors.New("no answer came, so it is not known whether the gateway got the call")
	// ErrAnswer: the gateway, or somebody before it, answered what is no answer
	// of the decision API.
	ErrAnswer = errors.New("the answer is not one of the decision API")
	// ErrArguments: arguments that no JSON body can carry as they are.
	ErrArguments = errors.New("the arguments are not valid UTF-8, so no JSON body carries them as they are")
)

// StaticToken is a Config.Token that never changes.
func StaticToken(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// NewKey returns a fresh idempotency key: one for each intended effect, to be
// kept by the caller for as long as it may repeat the call.
func NewKey() string { return rand.Text() }

// New checks a configuration.
func New(cfg Config) (*Client, error) {
	origin, err := originOf(cfg.URL)
	switch {
	case err != nil:
		return nil, err
	case cfg.Token == nil:
		return nil, errors.New("a client without a token")
	case cfg.Tries < 0 || cfg.Tries > mostTries || cfg.Timeout < 0 || cfg.Rest < 0:
		return nil, errors.New("a limit of the client is out of range")
	}
	if cfg.Tries == 0 {
		cfg.Tries = defaultTries
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Minute
	}
	if cfg.Rest == 0 {
		cfg.Rest = 200 * time.Millisecond
	}
	if cfg.Transport == nil {
		cfg.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16,
			IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10,
			DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext}
	}
	return &Client{cfg: cfg, origin: origin, http: &http.Client{Transport: cfg.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// originOf checks where a token may go.
func originOf(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return "", errors.New("the URL of a gateway is scheme://host[:port] and nothing else")
	}
	switch {
	case u.Scheme == "https":
	case u.Scheme == "http" && loopback(u.Hostname()):
	default:
		return "", errors.New("a token goes over https, or to a loopback address")
	}
	return u.Scheme + "://" + u.Host, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

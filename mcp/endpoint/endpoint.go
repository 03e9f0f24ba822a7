package endpoint

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// Identity is what a token stands for.
type Identity struct {
	// Key tells callers apart: sessions and limits belong to it. It is never
	// the token.
	Key    string
	Caller hub.Caller
}

// Refusal is why a token is not accepted, for the client's eyes: no part of
// the token and nothing that only the server knows.
type Refusal struct {
	Code  string // of RFC 6750 §3.1: invalid_token or insufficient_scope
	Scope string // that is needed, with insufficient_scope
	Cause error  // for the log
}

// Error says the code and the cause.
func (r *Refusal) Error() string {
	if r.Cause == nil {
		return r.Code
	}
	return r.Code + ": " + r.Cause.Error()
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

// Authority says who stands behind a bearer token. It fails with a [*Refusal],
// or with another error if it could not find out.
type Authority interface {
	Identify(ctx context.Context, token string) (Identity, error)
}

// Config is an endpoint.
type Config struct {
	Hub       *hub.Hub  // required
	Authority Authority // required
	Path      string    // "" means /mcp
	// Hosts are the values of the Host header that are served, with port where
	// it is not the scheme's; required. A name that an attacker's DNS points
	// here is none of them.
	Hosts []string
	// Origins are the web pages that may speak to the endpoint, as in the
	// Origin header; others are refused, and requests without one are not from
	// a page.
	Origins []string
	// Resource is the protected-resource metadata (RFC 9728); nil where tokens
	// do not come from an authorization server.
	Resource *Resource
	// Beside, if not nil, serves what stands beside Path to the same callers.
	Beside Beside
	Limits Limits
	Log    *slog.Logger // nil discards
}

// Beside serves other paths of the endpoint's address. A request reaches it
// after the checks of host, origin and token, and counts among those of its
// caller.
type Beside interface {
	// Owns reports whether it serves a path, or says that nothing is there.
	Owns(path string) bool
	// Streams reports whether what it answers on a path lasts: such an answer
	// ends (the request's context does) with what its token stands for.
	Streams(path string) bool
	// Refuse words a refusal of this package for a path of its own.
	Refuse(w http.ResponseWriter, status int, text string)
	// ServeFor answers a request of a caller.
	ServeFor(w http.ResponseWriter, r *http.Request, who Identity)
}

// Limits bound what one caller can take. A field that is zero means its
// default.
type Limits struct {
	Frame    int // bytes of one message; default 4 MiB, at most wire.DefaultMaxFrame
	Requests int // under way for one caller; default 64
	Total    int // under way for all callers together; default 1024
	Rate     int // requests per second of one caller, which may save up one second's; default 10,000
	Sessions int // of one caller; default 64
	// Body is how long a request may take to bring its body; default 30 s.
	Body time.Duration
}

// The default limits, and the highest.
const (
	DefaultFrame    = 4 << 20
	DefaultRequests = 64
	DefaultTotal    = 1024
	DefaultRate     = 10_000
	DefaultSessions = 64
	DefaultBody     = 30 * time.Second
	MaxRequests     = 4096
	MaxTotal        = 65_536
	MaxRate         = 1_000_000
	MaxSessions     = 4096
)

// Endpoint is the handler. It is safe for concurrent use.
type Endpoint struct {
	cfg      Config
	doors    atomic.Pointer[doors]
	frames   wire.Limits
	sessions *sessions
	load     *load
}

// New checks the configuration.
func New(cfg Config) (*Endpoint, error) {
	if cfg.Hub == nil || cfg.Authority == nil || len(cfg.Hosts) == 0 {
		return nil, errors.New("an endpoint without hub, authority or hosts")
	}
	if cfg.Path == "" {
		cfg.Path = "/mcp"
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	l := &cfg.Limits
	for _, x := range []struct {
		field    *int
		fallback int
		highest  int
	}{{&l.Frame, DefaultFrame, wire.DefaultMaxFrame}, {&l.Requests, DefaultRequests, MaxRequests}, {&l.Total, DefaultTotal, MaxTotal}, {&l.Rate, DefaultRate, MaxRate}, {&l.Sessions, DefaultSessions, MaxSessions}} {
		if *x.field == 0 {
			*x.field = x.fallback
		}
		if *x.field < 1 || *x.field > x.highest {
			return nil, errors.New("a limit of the endpoint is out of range")
		}
	}
	if l.Body == 0 {
		l.Body = DefaultBody
	}
	if l.Body < 0 {
		return nil, errors.New("a limit of the endpoint is out of range")
	}
	for _, o := range cfg.Origins {
		if u, err := url.Parse(o); err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != o {
			return nil, errors.New("an origin is scheme://host[:port] and nothing else")
		}
	}
	e := &Endpoint{cfg: cfg, frames: wire.Limits{MaxFrame: l.Frame}, sessions: newSessions(l.Sessions), load: newLoad(*l)}
	e.doors.Store(newDoors(cfg.Authority, cfg.Resource))
	return e, nil
}

// ServeHTTP answers one HTTP request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	beside := e.cfg.Beside != nil && e.cfg.Beside.Owns(r.URL.Path)
	turnAway := refuse
	if beside {
		turnAway = e.cfg.Beside.Refuse
	}
	if !e.hosted(r.Host) || !e.fromHere(r) {
		turnAway(w, http.StatusForbidden, "this host or origin is not served")
		return
	}
	if about := e.doors.Load().resource; about != nil && about.describes(r.URL.Path, e.cfg.Path) {
		about.serve(w, r)
		return
	}
	if !beside && r.URL.Path != e.cfg.Path {
		refuse(w, http.StatusNotFound, "there is nothing here")
		return
	}
	who, err := e.identify(r)
	if err != nil {
		e.challenge(w, r, err, turnAway)
		return
	}
	who.Caller.Trace = verbatim.Trace{Parent: r.Header.Get("Traceparent"), State: r.Header.Get("Tracestate")}
	if beside {
		e.serveBeside(w, r, who)
		return
	}
	switch r.Method {
	case http.MethodPost:
		e.post(w, r, who)
	case http.MethodGet:
		e.get(w, r, who)
	case http.MethodDelete:
		e.delete(w, r, who)
	default:
		w.Header().Set("Allow", "POST, GET, DELETE")
		refuse(w, http.StatusMethodNotAllowed, "this method is not served")
	}
}

// serveBeside hands a request on, if its caller has a place left.
func (e *Endpoint) serveBeside(w http.ResponseWriter, r *http.Request, who Identity) {
	if busy := e.load.enter(who.Key); busy != (busyness{}) {
		busy.header(w)
		e.cfg.Beside.Refuse(w, busy.status, textBusy)
		return
	}
	defer e.load.leave(who.Key)
	if r.Method == http.MethodGet && e.cfg.Beside.Streams(r.URL.Path) {
		ctx, cancel := e.whileGood(r, who, nil)
		defer cancel()
		r = r.WithContext(ctx)
	}
	e.cfg.Beside.ServeFor(w, r, who)
}

func (e *Endpoint) hosted(host string) bool {
	return slices.ContainsFunc(e.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// fromHere: a page may speak to the endpoint only if it is listed.
func (e *Endpoint) fromHere(r *http.Request) bool {
	values := r.Header.Values("Origin")
	return len(values) == 0 || len(values) == 1 && slices.Contains(e.cfg.Origins, values[0])
}

var errNoToken = errors.New("the request has no bearer token")

// identify reads the one bearer token of a request (RFC 6750 §2.1).
func (e *Endpoint) identify(r *http.Request) (Identity, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return Identity{}, errNoToken
	}
	scheme, token, found := strings.Cut(values[0], " ")
	if len(values) != 1 || !found || !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxToken {
		return Identity{}, &Refusal{Code: "invalid_token", Cause: errors.New("it is no bearer token")}
	}
	who, err := e.doors.Load().authority.Identify(r.Context(), token)
	if err == nil && who.Key == "" {
		err = errors.New("an identity without a key")
	}
	return who, err
}

// maxToken is the longest bearer token, in bytes.
const maxToken = 16 << 10

// challenge says what is wrong with a request's token (RFC 6750 §3, RFC 9728
// §5.1).
func (e *Endpoint) challenge(w http.ResponseWriter, r *http.Request, err error, turnAway func(http.ResponseWriter, int, string)) {
	var refused *Refusal
	status, parameters := http.StatusUnauthorized, []string{}
	switch {
	case errors.Is(err, errNoToken):
	case errors.As(err, &refused):
		e.cfg.Log.Warn("a token was refused", "error", refused, "from", remoteHost(r))
		parameters = append(parameters, `error="`+refused.Code+`"`)
		if refused.Code == "insufficient_scope" {
			status, parameters = http.StatusForbidden, append(parameters, `scope="`+refused.Scope+`"`)
		}
	default:
		e.cfg.Log.Error("a token could not be checked", "error", err)
		turnAway(w, http.StatusServiceUnavailable, "the token could not be checked; try again")
		return
	}
	if about := e.doors.Load().resource; about != nil {
		parameters = append(parameters, `resource_metadata="`+about.location(e.cfg.Path)+`"`)
		if status == http.StatusUnauthorized && len(about.Scopes) > 0 {
			parameters = append(parameters, `scope="`+strings.Join(about.Scopes, " ")+`"`)
		}
	}
	w.Header().Set("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(parameters, ", ")))
	turnAway(w, status, "a bearer token is needed, or this one does not do")
}

func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return host
}

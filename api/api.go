package api

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// Caller is the part of a hub that calls go through.
type Caller interface {
	Call(ctx context.Context, c hub.Caller, call verbatim.Call) (verbatim.Outcome, error)
	Authorize(ctx context.Context, c hub.Caller, call verbatim.Call) (verbatim.Authorization, error)
	Explain(ctx context.Context, c hub.Caller, call verbatim.Call) (verbatim.Explanation, error)
	// Tools lists the tools that exist for a caller.
	Tools(ctx context.Context, c hub.Caller) ([]hub.Offered, error)
	// Done is closed when no more calls are taken.
	Done() <-chan struct{}
}

// Desk is the part of a gate that tells of actions and withdraws them.
type Desk interface {
	Action(ctx context.Context, tenant, id string) (action.Action, error)
	Actions(ctx context.Context, f action.Filter) ([]action.Action, error)
	// Dismiss withdraws what waits, for whoever proposed it.
	Dismiss(ctx context.Context, s verbatim.Session, id string) (action.Action, error)
	// Report takes a caller's word on how what it was authorized to run ended.
	Report(ctx context.Context, s verbatim.Session, id string, r verbatim.Report) (verbatim.Outcome, error)
	Shelf
}

// Shelf is the part of a gate that tells what is kept of an action.
type Shelf interface {
	Stored(ctx context.Context, tenant, id string) (verbatim.Outcome, error)
	Votes(ctx context.Context, tenant, id string) ([]action.Vote, error)
	Records(ctx context.Context, f audit.Filter) ([]audit.Record, error)
	Receipts(ctx context.Context, tenant, id string) ([][]byte, error)
	Evidence(ctx context.Context, tenant, id string, payload bool) ([]byte, error)
}

// Config is an API.
type Config struct {
	Calls   Caller // required
	Actions Desk   // required
	// Pause is how long a request that waits for an action rests between two
	// looks at it; 0 means 250 ms.
	Pause time.Duration
	// Stream is how long a stream of events lasts at most; 0 means MaxStream,
	// which is also the longest.
	Stream time.Duration
	Log    *slog.Logger // nil discards
}

// API serves the paths below /v1/. It is safe for concurrent use.
type API struct {
	cfg     Config
	waiting *places
}

// The limits of requests.
const (
	MaxBody = 4 << 20 // bytes: the largest arguments, escaped
	MaxWait = 60 * time.Second
	MaxPage = 100 // actions of one answer
	// MaxWaiting is how many requests of one principal may wait for actions.
	MaxWaiting = 32
)

const (
	prefix       = "/v1/"
	pathEvents   = prefix + "actions/{id}/events"
	defaultPause = 250 * time.Millisecond
)

//go:embed openapi.json
var document []byte

// New checks the configuration.
func New(cfg Config) (*API, error) {
	if cfg.Calls == nil || cfg.Actions == nil || cfg.Pause < 0 || cfg.Stream < 0 || cfg.Stream > MaxStream {
		return nil, errors.New("an API without calls or actions, or with a time out of range")
	}
	if cfg.Stream == 0 {
		cfg.Stream = MaxStream
	}
	if cfg.Pause == 0 {
		cfg.Pause = defaultPause
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &API{cfg, newPlaces(MaxWaiting)}, nil
}

// Route is one entry point. {id} in Path stands for one segment.
type Route struct{ Method, Path string }

type entry struct {
	Route
	query []string // parameters; any other is refused
	serve func(a *API, w http.ResponseWriter, r *request)
}

// request is one request of an authenticated caller.
type request struct {
	*http.Request
	caller hub.Caller
	id     string            // the segment of the path; "" if it has none
	query  map[string]string // what was given
}

// entries are all entry points.
var entries = []entry{
	{Route{http.MethodGet, "/v1/openapi.json"}, nil, (*API).describe},
	{Route{http.MethodGet, "/v1/tools"}, nil, (*API).tools},
	{Route{http.MethodPost, "/v1/explain"}, nil, (*API).explain},
	{Route{http.MethodPost, "/v1/call"}, nil, (*API).call},
	{Route{http.MethodPost, "/v1/authorize"}, nil, (*API).authorize},
	{Route{http.MethodGet, "/v1/actions"}, []string{"state", "tool", "limit", "before"}, (*API).list},
	{Route{http.MethodGet, "/v1/actions/{id}"}, []string{"wait", "state"}, (*API).action},
	{Route{http.MethodPost, "/v1/actions/{id}/dismiss"}, nil, (*API).dismiss},
	{Route{http.MethodPost, "/v1/actions/{id}/outcome"}, nil, (*API).outcome},
	{Route{http.MethodGet, pathEvents}, nil, (*API).events},
	{Route{http.MethodGet, "/v1/actions/{id}/result"}, nil, (*API).result},
	{Route{http.MethodGet, "/v1/actions/{id}/votes"}, nil, (*API).votes},
	{Route{http.MethodGet, "/v1/actions/{id}/records"}, []string{"limit", "before"}, (*API).records},
	{Route{http.MethodGet, "/v1/actions/{id}/receipts"}, nil, (*API).receipts},
	{Route{http.MethodGet, "/v1/actions/{id}/evidence"}, nil, (*API).evidence},
	{Route{http.MethodGet, "/v1/proposals"}, []string{"state", "tool", "limit", "before"}, (*API).proposals},
}

// Routes lists every entry point.
func Routes() []Route {
	var out []Route
	for _, e := range entries {
		out = append(out, e.Route)
	}
	return out
}

// OpenAPI returns the OpenAPI 3.1 document.
func OpenAPI() []byte { return append([]byte(nil), document...) }

// Owns reports whether a path is one of the API's.
func (a *API) Owns(path string) bool { return strings.HasPrefix(path, prefix) }

// Streams reports whether a path is one of events.
func (a *API) Streams(path string) bool {
	_, ok := match(pathEvents, path)
	return ok
}

// Refuse answers with a problem that has no code of its own (about:blank,
// RFC 9457 §4.2.1).
func (a *API) Refuse(w http.ResponseWriter, status int, text string) {
	p := problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: text}
	if w.Header().Get("Retry-After") != "" { // who comes again in a moment may be let in
		p.Code = verbatim.CodeOverloaded
		p.Type = typeOf(p.Code)
	}
	writeProblem(w, p)
}

// ServeFor answers one request of a caller.
func (a *API) ServeFor(w http.ResponseWriter, r *http.Request, who endpoint.Identity) {
	var allowed []string
	for _, e := range entries {
		id, ok := match(e.Path, r.URL.Path)
		if !ok {
			continue
		}
		if e.Method != r.Method {
			allowed = append(allowed, e.Method)
			continue
		}
		query, err := parameters(r, e.query)
		if err != nil {
			a.badRequest(w, http.StatusBadRequest, err)
			return
		}
		e.serve(a, w, &request{Request: r, caller: who.Caller, id: id, query: query})
		return
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		a.Refuse(w, http.StatusMethodNotAllowed, "this method is not served")
		return
	}
	a.Refuse(w, http.StatusNotFound, "there is nothing here")
}

// match compares a path with that of a route.
func match(route, path string) (id string, ok bool) {
	head, tail, variable := strings.Cut(route, "{id}")
	if !variable {
		return "", route == path
	}
	rest, ok := strings.CutPrefix(path, head)
	id, found := strings.CutSuffix(rest, tail)
	return id, ok && found && id != "" && !strings.Contains(id, "/")
}

func (a *API) describe(w http.ResponseWriter, _ *request) {
	write(w, http.StatusOK, "application/json", document)
}

var _ endpoint.Beside = (*API)(nil)

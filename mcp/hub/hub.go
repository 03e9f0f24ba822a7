package hub

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// Transport is one connection to a server, that nobody has greeted yet.
type Transport interface {
	gate.Line
	// Tell sends what wants no answer.
	Tell(m *wire.Message) error
	// Reply answers a request of the server. It does not wait, and may drop
	// answers that a server does not take.
	Reply(m *wire.Message)
	// Listen gives what the server sends beside all requests to other, until
	// the connection ends or the server has nothing to say there.
	Listen(other func(*wire.Message))
	// Gone is closed when the connection is of no use any more.
	Gone() <-chan struct{}
	Close()
}

// Mirroring is a Transport that repeats arguments in headers.
type Mirroring interface {
	Mirrors(of func(tool string) []wire.Mirror)
}

// Server is one server behind the hub.
type Server struct {
	Name string // in catalog and policy: 1 to 40 of a-z 0-9 -
	// Version tells this server from what stood under its name before: Replace
	// keeps the connections where it is the same. "" is never the same.
	Version string
	// Dial connects. It is called again after the connection was lost.
	Dial func(ctx context.Context) (Transport, error)
	// Identity names the server for what it was sent (gate.Identify): a later
	// process settles that only if its server has the same. Zero stands for one
	// that no other server has.
	Identity canon.Digest
	// Audience is the name that warrants for the server's tools bear: its calls
	// carry one, and callers may be authorized to run its tools themselves. ""
	// means neither.
	Audience string
	// Asks says that what the server asks of a client comes with the request
	// that it belongs to. Where it does not, the server is told that clients can
	// do nothing for it.
	Asks bool
	// PerSession gives each session of the legacy era connections of its own:
	// what comes on them beside all requests is that session's, and the server is
	// told what its client can do. Everybody else shares one.
	PerSession bool
	// Resources are patterns of URIs, Prompts of names. What no pattern names
	// does not exist.
	Resources []Pattern
	Prompts   []Pattern
	// Greeting is how long the server may take until it has greeted, in each
	// era, and until it has listed what it offers; 0 means 30 s.
	Greeting time.Duration
}

// Config is a hub.
type Config struct {
	Gate    *verbatim.Gate // required
	Binder  gate.Binder    // required
	Servers []Server       // at least one; Replace puts others in their place
	Version string         // of this program, for greetings
	Wait    time.Duration  // 0 means gate.DefaultWait
	Page    string         // address of the approvers' page
	// NameLimit is the longest name of a tool that is offered: 64 for the
	// model interfaces in use, at most 128 (MCP). 0 means 64.
	NameLimit int
	// MaxPause is the longest pause before a server that has failed is tried
	// again; 0 means 30 s. A connection that lasts longer is no failure.
	MaxPause time.Duration
	Log      *slog.Logger // nil discards
}

// Hub is a set of servers. It is safe for concurrent use.
type Hub struct {
	cfg    Config
	roof   atomic.Pointer[roof] // the servers; Replace puts another one in its place
	runs   sync.WaitGroup       // requests under way, and runs that outlive them
	end    context.Context
	stop   context.CancelFunc
	states *gate.States
	tasks  gate.Tasks

	proposed *wire.Message // a tools/call without arguments, of no tool yet
	requests sync.Map      // the same of a tool, by its name at its server
	kept     atomic.Int64  // how many those are

	replacing sync.Mutex // one Replace at a time

	mu       sync.Mutex
	ended    bool
	sessions map[*Session]bool
	retired  map[*server]bool // that something still needs
}

// The limits of names.
const (
	DefaultNameLimit = 64
	MaxNameLimit     = 128
)

var serverName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// New checks the configuration. Nothing is connected yet.
func New(cfg Config) (*Hub, error) {
	if cfg.Gate == nil || cfg.Binder == nil {
		return nil, errors.New("a hub without gate or binder")
	}
	if cfg.MaxPause <= 0 {
		cfg.MaxPause = lastPause
	}
	if cfg.NameLimit == 0 {
		cfg.NameLimit = DefaultNameLimit
	}
	if cfg.NameLimit < DefaultNameLimit || cfg.NameLimit > MaxNameLimit {
		return nil, fmt.Errorf("the limit of names must be %d to %d", DefaultNameLimit, MaxNameLimit)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{cfg: cfg, sessions: map[*Session]bool{}, retired: map[*server]bool{}}
	h.end, h.stop = context.WithCancel(context.Background())
	var err error
	if h.states, err = gate.NewStates(); err != nil {
		return nil, err
	}
	if h.proposed, err = h.request(); err != nil {
		return nil, err
	}
	servers, err := h.over(cfg.Servers, nil)
	if err != nil {
		return nil, err
	}
	h.roof.Store(servers)
	go h.listsChanged()
	return h, nil
}

// unnamed is an identity that no other server has.
func unnamed() canon.Digest { return gate.Identify("unnamed", rand.Text()) }

// Warm connects every server, so that the first call need not wait. What
// fails is logged and tried again when it is needed.
func (h *Hub) Warm(ctx context.Context) {
	var all sync.WaitGroup
	for _, s := range h.roof.Load().servers {
		all.Go(func() {
			if l, err := s.connect(ctx, modern); err == nil {
				err = l.roster.Load(ctx)
				if err != nil {
					h.cfg.Log.Warn("the tools of a server could not be listed", "server", s.Name, "error", err)
				}
			}
		})
	}
	all.Wait()
}

// enter counts a request in; false if the hub takes no more.
func (h *Hub) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return false
	}
	h.runs.Add(1)
	return true
}

// Close takes no more requests, ends the waiting of those that wait, lets runs
// that have begun finish as long as ctx lasts, and ends the servers.
func (h *Hub) Close(ctx context.Context) {
	h.mu.Lock()
	h.ended = true
	sessions := slices.Collect(maps.Keys(h.sessions))
	h.mu.Unlock()
	h.stop()
	for _, s := range sessions {
		s.Close()
	}
	done := make(chan struct{})
	go func() { h.finish(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		h.cfg.Log.Warn("runs were still going when the servers were stopped; they are uncertain")
	}
	var all sync.WaitGroup
	for _, s := range h.all() {
		all.Go(s.close)
	}
	all.Wait()
}

// finish waits for the requests, and then for the runs that they have left.
func (h *Hub) finish() {
	h.runs.Wait()
	for _, s := range h.all() {
		s.runs.Wait()
	}
}

// Sessions is how many sessions of the legacy era, and streams of the modern
// one, are open.
func (h *Hub) Sessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// all are the servers, those among them that are being let go.
func (h *Hub) all() []*server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.AppendSeq(slices.Collect(maps.Keys(h.retired)), maps.Values(h.roof.Load().servers))
}

// broadcast tells every session that has a stream for it.
func (h *Hub) broadcast(server string, m *wire.Message) {
	h.mu.Lock()
	sessions := slices.Collect(maps.Keys(h.sessions))
	h.mu.Unlock()
	for _, s := range sessions {
		s.hear(server, m)
	}
}

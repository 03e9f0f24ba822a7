package hub

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// Session is one client: of the legacy era for as long as it stays, of the
// modern era for one request. It is safe for concurrent use.
type Session struct {
	*seat
	caller Caller // of this request

	// What follows is of one request, and nil where there is none.
	roof  *roof
	moved bool      // a server that it needed was let go; another roof is there
	held  []*server // that are kept open for it
	first [1]*server
}

// seat is what the requests of a session have in common.
type seat struct {
	hub  *Hub
	era  era
	ear  bool // it stands for a stream of the modern era
	end  context.Context
	stop context.CancelFunc

	mu      sync.Mutex
	owner   *Session            // that the hub knows
	newest  Caller              // that the session's token stands for
	wake    chan struct{}       // newest is another one; nil in the legacy era
	version string              // that was agreed, in the legacy era
	can     map[string]bool     // capabilities that the client declared
	live    map[string]*trip    // requests under way, by the client's id
	asked   map[string]debt     // requests of servers that the client owes an answer
	next    int64               // ids of those requests
	follows map[string]bool     // URIs whose changes the client wants to hear of
	outlet  func(*wire.Message) // the stream for what belongs to no request; nil drops
	// declared is what the client said that it can do for servers, as an object;
	// own are the instances of servers that are this session's alone.
	declared []byte
	own      map[string]*server
}

// trip is a request under way.
type trip struct {
	cancel context.CancelFunc
	silent bool
	beside func(*wire.Message)
	link   *link   // that has it, if any
	known  wire.ID // there
}

// debt is a request of a server.
type debt struct {
	link  *link
	id    wire.ID // the server's
	known wire.ID // the client's
}

// request is one request of a client.
type request struct {
	ctx    context.Context
	msg    *wire.Message
	trip   *trip
	beside func(*wire.Message) // to the client, before the answer
}

// within is the request with a time by which it must be answered.
func (r *request) within(long time.Duration) (*request, context.CancelFunc) {
	short := *r
	var cancel context.CancelFunc
	short.ctx, cancel = context.WithTimeout(r.ctx, long)
	return &short, cancel
}

// maxLive bounds the requests of one session under way, and maxOwed those of
// servers to it.
const (
	maxLive = 256
	maxOwed = 256
)

// Legacy opens a session of the legacy era. The caller closes it.
func (h *Hub) Legacy(c Caller) *Session {
	s := h.session(c, legacy)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions[s] = true
	return s
}

// Once opens a session for one request of the modern era. The caller closes it.
func (h *Hub) Once(c Caller) *Session { return h.session(c, modern) }

func (h *Hub) session(c Caller, e era) *Session {
	s := &Session{caller: c, seat: &seat{hub: h, era: e, newest: c, live: make(map[string]*trip, 1)}}
	s.owner = s
	if e == modern { // it lasts for one request, and that has an end of its own
		s.end, s.stop, s.roof, s.wake = h.end, func() {}, h.roof.Load(), make(chan struct{}, 1)
		return s
	}
	s.can, s.asked, s.follows, s.own = map[string]bool{}, map[string]debt{}, map[string]bool{}, map[string]*server{}
	s.end, s.stop = context.WithCancel(h.end)
	return s
}

// Caller is who stands behind the session.
func (s *Session) Caller() Caller { return s.caller }

// Version is the revision that was agreed; "" before.
func (s *Session) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.end.Done() }

// Close ends the session. Runs that have begun go on.
func (s *Session) Close() {
	s.let()
	s.stop()
	s.disown(func(*server) bool { return true })
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.hub.sessions, s.owner)
}

// Outlet sets the stream for what belongs to no request; nil drops it.
func (s *Session) Outlet(to func(*wire.Message)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outlet = to
}

// Knows reports whether a method is in the reviewed map of the session's era.
func (s *Session) Knows(method string) bool {
	m, ok := fromClient(method)
	return ok && m.eras[s.era]
}

// Request answers one request. What servers send in its course goes to beside
// first; nil says that the client can take nothing but the answer. It returns
// nil where the client has said that it wants no answer.
func (s *Session) Request(ctx context.Context, m *wire.Message, beside func(*wire.Message)) *wire.Message {
	if !s.Knows(m.Method()) {
		return s.failure(m.ID(), wire.CodeMethodNotFound, "this method does not pass the gateway")
	}
	if !s.hub.enter() {
		return s.failure(m.ID(), wire.CodeInternal, "the gateway is ending; nothing was done")
	}
	defer s.hub.runs.Done()
	known, _ := fromClient(m.Method())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.end, cancel)()
	t := &trip{cancel: cancel, beside: beside}
	if refused := s.begin(m.ID(), t); refused != nil {
		return refused
	}
	visit := s
	if s.roof == nil {
		visit = s.visit()
		defer visit.let()
	}
	answer := known.answer(visit, &request{ctx: ctx, msg: m, trip: t, beside: beside})
	for m.Method() != "initialize" && visit.again() {
		answer = known.answer(visit, &request{ctx: ctx, msg: m, trip: t, beside: beside})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, m.ID().Key())
	if t.silent {
		return nil
	}
	return answer
}

// begin notes a request under way, or returns why it cannot be.
func (s *Session) begin(id wire.ID, t *trip) *wire.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.live[id.Key()]; taken {
		return s.failure(id, wire.CodeInvalidRequest, "a request with this id is in flight")
	}
	if len(s.live) >= maxLive {
		return gate.Overloaded(s.hub.cfg.Log, id)
	}
	s.live[id.Key()] = t
	return nil
}

// Notify takes a notification of the client.
func (s *Session) Notify(m *wire.Message) {
	switch m.Method() {
	case "notifications/cancelled":
		s.cancelled(m)
	case "notifications/roots/list_changed":
		s.relay(m)
	case "notifications/initialized", "notifications/progress":
		// The servers' sessions are the gateway's own: these say nothing to them.
	default:
		s.hub.cfg.Log.Debug("a notification of a client was dropped", "method", m.Method())
	}
}

// cancelled ends the waiting of one request. A run that has begun goes on; the
// server is told under the id that it knows.
func (s *Session) cancelled(m *wire.Message) {
	id, ok := cancelledID(m)
	if !ok {
		return
	}
	s.mu.Lock()
	t, live := s.live[id.Key()]
	var to *link
	var known wire.ID
	if live {
		t.silent, to, known = true, t.link, t.known
		t.cancel()
	}
	s.mu.Unlock()
	if to == nil || known.IsZero() || to.era == modern {
		return
	}
	out, err := m.WithMember("/params/requestId", known.Raw())
	if err == nil {
		err = to.Tell(out)
	}
	if err != nil {
		to.server.log.Warn("a cancellation did not reach the server", "error", err)
	}
}

// cancelledID is the id of the request that a cancellation names.
func cancelledID(m *wire.Message) (wire.ID, bool) {
	raw, found, err := m.Member("/params/requestId")
	if err != nil || !found {
		return wire.ID{}, false
	}
	return wire.ParseID(raw)
}

// Answer takes the client's answer to a request of a server.
func (s *Session) Answer(m *wire.Message) {
	s.mu.Lock()
	owed, ok := s.asked[m.ID().Key()]
	delete(s.asked, m.ID().Key())
	s.mu.Unlock()
	if !ok {
		s.hub.cfg.Log.Debug("an answer of a client to nothing was dropped")
		return
	}
	out, err := m.WithID(owed.id)
	if err == nil {
		err = owed.link.Tell(out)
	}
	if err != nil {
		owed.link.server.log.Warn("an answer did not reach the server", "error", err)
	}
}

// carry is the trip of a request to a link: it notes where the request is, and
// takes what the server sends in its course to the client.
func (s *Session) carry(r *request, l *link) gate.Trip {
	return gate.Trip{
		Sent: func(id wire.ID) {
			s.mu.Lock()
			defer s.mu.Unlock()
			r.trip.link, r.trip.known = l, id
		},
		Beside: func(m *wire.Message) { s.beside(r.beside, l, m) },
	}
}

// beside takes what a server sends to one of the client's streams, nil if it has
// none.
func (s *Session) beside(to func(*wire.Message), l *link, m *wire.Message) {
	if to == nil {
		l.unheard(m)
		return
	}
	out, err := m.WithoutOwnMeta()
	if err != nil {
		l.server.log.Warn("a message of the server was refused", "error", err)
		return
	}
	if m.Kind() != wire.KindRequest {
		to(out)
		return
	}
	id, ok := s.owe(l, m)
	if !ok {
		l.reply(m)
		return
	}
	if out, err = out.WithID(id); err == nil {
		to(out)
	}
}

// owe notes that the client owes a server an answer, and gives the question an
// id that no other server's has.
func (s *Session) owe(l *link, m *wire.Message) (wire.ID, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.era != legacy || !s.can[needs[m.Method()]] || len(s.asked) >= maxOwed {
		return wire.ID{}, false
	}
	s.next++
	id := wire.StringID("verbatim-" + strconv.FormatInt(s.next, 10))
	s.asked[id.Key()] = debt{l, m.ID(), id}
	return id, true
}

// hear takes what a server sends beside all requests.
func (s *Session) hear(server string, m *wire.Message) {
	if !s.latest().sees(server) {
		return
	}
	uri := ""
	if m.Method() == "notifications/resources/updated" {
		raw, _, err := m.Member("/params/uri")
		if err != nil {
			return
		}
		uri, _ = wire.Text(raw)
	}
	s.mu.Lock()
	to, wanted := s.outlet, uri == "" || s.follows[uri]
	s.mu.Unlock()
	if to == nil || !wanted {
		return
	}
	if out, err := m.WithoutOwnMeta(); err == nil {
		to(out)
	}
}

// servers are the names that exist for the session.
func (s *Session) servers() []string {
	return slices.DeleteFunc(slices.Clone(s.roof.names), func(n string) bool { return !s.caller.sees(n) })
}

func (s *Session) failure(id wire.ID, code wire.Code, text string) *wire.Message {
	m, err := wire.NewError(id, code, text, nil)
	if err != nil {
		panic("hub: the fixed sentences are valid: " + err.Error())
	}
	return m
}

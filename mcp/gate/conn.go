package gate

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/brief"
	"github.com/seed-de4804fb/verbatim/internal/eager"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// DefaultWait is how long a call is held while people decide. Most clients
// give up after 60 s.
const DefaultWait = 50 * time.Second

// conn is one client connection with the server behind it.
type conn struct {
	log    *slog.Logger
	client *wire.Writer
	up     *Stream
	roster *Roster
	desk   *Desk
	calls  sync.WaitGroup
	turn   turn
	// ear is what the client is read through, nil where it cannot be looked at,
	// and beat how soon it asks again. They belong to whoever reads it.
	ear  *eager.Reader
	beat eager.Pace

	mu    sync.Mutex
	live  map[string]*flight // requests of the client in flight, by id
	can   map[string]bool    // capabilities that the client declared in its greeting
	meta  []byte             // _meta of the client's latest stateless request
	asked map[string]bool    // requests of the server that the client owes an answer
	// tokens are the progress tokens of requests in flight, and of how many.
	tokens map[string]int
}

// flight is one request of the client that has no answer yet.
type flight struct {
	cancel   context.CancelFunc
	id       wire.ID // the client's
	upstream wire.ID // zero until it has been sent on
	silent   bool    // cancelled: no answer is wanted
	stream   bool    // it is a stream of notifications
	listens  bool    // one of changes of the tools
	token    string  // raw progress token; "" where the client gave none
}

// answerGrace is how long answers may take to reach a client after a stream
// has ended. A client that does not read must not keep a run from ending.
const answerGrace = 5 * time.Second

// Serve speaks for a server to a client until either stream ends, and closes
// the client's. Runs that have passed the commit point are finished before it
// returns. It fails with the error of the stream that broke; the end of a
// stream is no failure.
func Serve(ctx context.Context, cfg Config, client io.ReadWriteCloser, serverOut io.Reader, serverIn io.Writer) error {
	if cfg.Binder == nil {
		return errors.New("gateway without binder")
	}
	if err := cfg.check(); err != nil {
		return err
	}
	c := &conn{log: cfg.Log, client: wire.NewWriter(brief.NewWriter(client)), up: NewStream(serverOut, serverIn, cfg.Log),
		live: map[string]*flight{}, asked: map[string]bool{}, tokens: map[string]int{}}
	c.roster = NewRoster(cfg.Server, cfg.Binder, c.page)
	c.roster.Patience = cfg.Listing
	var err error
	if c.desk, err = NewDesk(cfg, c.roster, c.up, &c.calls); err != nil {
		return err
	}
	return c.serve(ctx, client)
}

func (c *conn) serve(ctx context.Context, client io.ReadCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.calls.Go(func() {
		Tending{Gate: c.desk.cfg.Gate, Server: c.desk.cfg.Server, Roster: c.roster, Line: c.up, Prepare: c.inEra,
			Identity: c.desk.cfg.Identity, Audience: c.desk.cfg.Audience}.Tend(ctx)
	})
	go c.announce(ctx)
	server, gone := make(chan error, 1), make(chan error, 1)
	go func() { server <- c.up.Listen(c.fromServer) }()
	var in io.Reader = client
	if c.ear = eager.NewReader(client); c.ear != nil {
		in = c.ear
	}
	go c.readClient(ctx, wire.NewReader(in, wire.Limits{}), gone)
	var err error
	select {
	case err = <-server:
		c.lastAnswers(ctx, gone)
	case err = <-gone:
	case <-ctx.Done():
	}
	cancel() // whoever waits is gone now
	grace := time.AfterFunc(answerGrace, func() { client.Close() })
	defer grace.Stop()
	defer client.Close()
	c.calls.Wait()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// lastGrace is how long what a server said last may take to be answered.
const lastGrace = time.Second

// lastAnswers waits a moment for the requests under way: a server may have
// answered just before it ended.
func (c *conn) lastAnswers(ctx context.Context, gone <-chan error) {
	end := time.NewTimer(lastGrace)
	defer end.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		c.mu.Lock()
		under := len(c.live)
		c.mu.Unlock()
		if under == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-gone:
			return
		case <-ctx.Done():
			return
		case <-end.C:
			return
		}
	}
}

// fromClient sorts one message of the client.
func (c *conn) fromClient(ctx context.Context, m *wire.Message) {
	switch m.Kind() {
	case wire.KindRequest:
		if answer := c.request(ctx, m); answer != nil {
			go answer()
		}
	case wire.KindNotification:
		c.notification(m)
	default:
		c.answerToServer(m)
	}
}

// request takes a request and returns what answers it; nil where that is done.
func (c *conn) request(ctx context.Context, m *wire.Message) (answer func()) {
	call := m.Method() == "tools/call"
	if !call && fromClient[m.Method()] != wire.KindRequest {
		c.fail(m.ID(), wire.CodeMethodNotFound, "this method does not pass the gateway")
		return nil
	}
	if !c.desk.cfg.Reach.allows(m) {
		c.fail(m.ID(), wire.CodeInvalidParams, textNoRule)
		return
	}
	if aboutTask(m.Method()) {
		if _, ok := c.desk.cfg.Tasks.Server(c.desk.cfg.Session, m); !ok {
			c.fail(m.ID(), wire.CodeInvalidParams, textNoTask)
			return
		}
	}
	c.noteEra(m)
	if m.Method() == "initialize" {
		c.noteCapabilities(m)
	}
	ctx, f, refused := c.begin(ctx, m)
	if refused != nil {
		c.send(refused)
		return nil
	}
	c.calls.Add(1)
	return func() {
		defer c.calls.Done()
		var a *wire.Message
		if call {
			a = c.desk.Call(ctx, m, c.trip(f))
		} else {
			a = c.pass(ctx, m, f)
		}
		if c.end(m.ID()) && a != nil {
			c.send(a)
		}
	}
}

// maxLive bounds the requests of one client in flight.
const maxLive = 256

// begin notes a request in flight, or returns why it cannot be.
func (c *conn) begin(ctx context.Context, m *wire.Message) (context.Context, *flight, *wire.Message) {
	token, _, _ := m.Meta(wire.MetaProgressToken) // one with two readings goes nowhere
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.live[m.ID().Key()]; taken {
		return nil, nil, c.failure(m.ID(), wire.CodeInvalidRequest, "a request with this id is in flight")
	}
	if len(c.live) >= maxLive {
		return nil, nil, Overloaded(c.log, m.ID())
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &flight{cancel: cancel, id: m.ID(), token: string(token), stream: m.Method() == listenMethod, listens: listensForTools(m)}
	c.live[m.ID().Key()] = f
	if f.token != "" {
		c.tokens[f.token]++
	}
	return ctx, f, nil
}

// end forgets a request and reports whether the client still wants an answer.
func (c *conn) end(id wire.ID) (wanted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.live[id.Key()]
	delete(c.live, id.Key())
	if c.tokens[f.token]--; c.tokens[f.token] <= 0 {
		delete(c.tokens, f.token)
	}
	f.cancel()
	return !f.silent
}

// noteEra keeps what a stateless server wants to see in every request.
func (c *conn) noteEra(m *wire.Message) {
	if m.ProtocolVersion() == "" {
		return
	}
	meta, found, err := m.Member("/params/_meta")
	if err != nil || !found {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.meta = meta
}

// pass forwards a request that is no tool call and returns the answer.
func (c *conn) pass(ctx context.Context, m *wire.Message, f *flight) *wire.Message {
	out, err := m.WithoutOwnMeta()
	if err == nil && f.stream {
		out, err = c.desk.cfg.Reach.narrowed(out)
	}
	if err == nil {
		out, err = c.desk.cfg.States.Open(out, c.desk.cfg.Session, c.desk.cfg.Server)
	}
	if err != nil {
		return c.failure(m.ID(), wire.CodeInvalidParams, "the request cannot be read in one way")
	}
	answer, err := c.up.Ask(ctx, out, c.trip(f))
	if err != nil {
		return c.failure(m.ID(), wire.CodeInternal, c.unanswered(ctx))
	}
	if f.stream {
		if answer, err = closing(answer, m); err != nil {
			return c.failure(m.ID(), wire.CodeInternal, "the server's answer cannot be read in one way")
		}
	}
	if m.Method() == "tools/list" && answer.Kind() == wire.KindResult {
		c.roster.Stale()
		if answer, err = c.roster.Show(answer); err != nil {
			c.log.Warn("a tool list was refused", "error", err)
			return c.failure(m.ID(), wire.CodeInternal, "the server's tool list cannot be read in one way")
		}
	}
	if answer, err = c.desk.cfg.Reach.shows(m.Method(), answer); err != nil {
		c.log.Warn("a list was refused", "method", m.Method(), "error", err)
		return c.failure(m.ID(), wire.CodeInternal, "the server's list cannot be read in one way")
	}
	if answer, err = c.desk.cfg.States.Seal(answer, m, c.desk.cfg.Session, c.desk.cfg.Server); err != nil {
		return c.failure(m.ID(), wire.CodeInternal, "the server's answer cannot be read in one way")
	}
	return readdress(c.log, answer, m.ID())
}

// unanswered says why a request that was passed on has no answer.
func (c *conn) unanswered(ctx context.Context) string {
	select {
	case <-c.up.gone:
		return "the server ended before it answered"
	default:
	}
	if ctx.Err() != nil { // the client's end, or its cancellation
		return "the client stopped waiting before the server answered"
	}
	return "the server gave no answer"
}

// trip notes the id under which a request leaves.
func (c *conn) trip(f *flight) Trip {
	return Trip{Sent: func(id wire.ID) {
		c.mu.Lock()
		defer c.mu.Unlock()
		f.upstream = id
	}}
}

// page asks for one page of the server's tools.
func (c *conn) page(ctx context.Context, cursor string) (*wire.Message, error) {
	m, err := ListTools(cursor)
	if err == nil {
		m, err = c.inEra(m)
	}
	if err != nil {
		return nil, err
	}
	return c.up.Ask(ctx, m, Trip{})
}

// inEra gives a request of ours the per-request _meta that the client's
// latest request had: in the stateless era a server refuses one without.
func (c *conn) inEra(m *wire.Message) (*wire.Message, error) {
	c.mu.Lock()
	meta := c.meta
	c.mu.Unlock()
	if meta == nil {
		return m, nil
	}
	m, err := m.WithMember("/params/_meta", meta)
	if err != nil {
		return nil, err
	}
	return m.Without("/params/_meta/progressToken")
}

func (c *conn) send(m *wire.Message) {
	if err := c.client.Write(m); err != nil {
		c.log.Debug("the client has gone", "error", err)
	}
}

func (c *conn) fail(id wire.ID, code wire.Code, text string) { c.send(c.failure(id, code, text)) }

func (c *conn) failure(id wire.ID, code wire.Code, text string) *wire.Message {
	return failure(c.log, id, code, text)
}

package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// Config is one client before one server.
type Config struct {
	Gate    *verbatim.Gate   // required
	Session verbatim.Session // required; from configuration, never from the client
	Server  string           // the server's name in the catalog; required
	Binder  Binder           // required by Serve
	Wait    time.Duration    // 0 means DefaultWait
	// Listing is how long the server may take to list its tools; 0 means
	// DefaultPatience.
	Listing time.Duration
	Page    string       // address of the approvers' page, for people; carries no authority
	Log     *slog.Logger // nil discards
	// Waiting, if not nil, is told of a call that is held while people decide.
	Waiting func(verbatim.Outcome)
	// Reach is what of the server's resources and prompts passes Serve.
	Reach Reach
	// Allowed, if not nil, says which of the server's tools exist for this
	// session at all, by catalog name. The others are unknown to it.
	Allowed func(tool string) bool
	// Identity names the server that really stands behind the line (Identify).
	// Zero is replaced by one that no other server has, so that nobody else
	// settles what this one was sent.
	Identity canon.Digest
	// Audience is the name that warrants for the server's tools bear; "" means
	// that it takes none, so nothing of it can be authorized for its caller.
	Audience string
	// Trace is the trace context of what messages come in, such as the headers
	// of a request; that of a message itself comes first. Transport, "pipe" if
	// "", and Version of the protocol, where messages do not say it, go with it to
	// observers. None decides anything.
	Trace              verbatim.Trace
	Transport, Version string
	// States guards what servers give clients to bring back; nil makes one for
	// this Desk.
	States *States
	// Tasks are those that the session was given; nil makes one for this Desk.
	Tasks *Tasks
}

func (c *Config) check() error {
	if c.Gate == nil || c.Server == "" {
		return errors.New("gateway without gate or server name")
	}
	if err := c.Session.Validate(); err != nil {
		return err
	}
	if c.Wait <= 0 {
		c.Wait = DefaultWait
	}
	if c.Identity == (canon.Digest{}) {
		c.Identity = unnamed()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Tasks == nil {
		c.Tasks = &Tasks{}
	}
	if c.States == nil {
		var err error
		if c.States, err = NewStates(); err != nil {
			return err
		}
	}
	return nil
}

// Desk takes the tool calls of one session to one server through the Gate. It
// is safe for concurrent use.
type Desk struct {
	cfg    Config
	roster *Roster
	line   Line
	runs   *sync.WaitGroup // runs may outlive their calls; the line must outlive them
}

// NewDesk checks the configuration. runs counts what still needs the line; the
// caller waits for it before the line is closed.
func NewDesk(cfg Config, roster *Roster, line Line, runs *sync.WaitGroup) (*Desk, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &Desk{cfg: cfg, roster: roster, line: line, runs: runs}, nil
}

// Call takes one tools/call request, in which the tool has the server's name,
// through the Gate and returns the answer for the client.
func (d *Desk) Call(ctx context.Context, m *wire.Message, trip Trip) *wire.Message {
	id := m.ID()
	if _, found, err := m.Member("/params/task"); found || err != nil {
		return d.failure(m.ID(), wire.CodeInvalidParams, "calls as tasks do not pass the gateway")
	}
	m, err := d.cfg.States.Open(m, d.cfg.Session, d.cfg.Server)
	if err != nil {
		return d.failure(id, wire.CodeInvalidParams, errState.Error())
	}
	proposed, err := d.proposed(m)
	if err != nil {
		return d.failure(m.ID(), wire.CodeInvalidParams, err.Error())
	}
	if err := d.roster.LoadFor(ctx, m.Name()); err != nil {
		d.cfg.Log.Warn("the server's tools could not be listed", "server", d.cfg.Server, "error", err)
		return d.failure(m.ID(), wire.CodeInternal, "the server's tools could not be listed; nothing was called")
	}
	t := &tools{desk: d, message: m, trip: trip, reload: func() error { return d.roster.Load(ctx) }}
	through := d.cfg.Gate.Counting(t, d.runs)
	answer := d.unlessTask(m, t, func() *wire.Message {
		o, err := d.decided(ctx, proposed, func() (verbatim.Outcome, error) { return through.Call(ctx, d.cfg.Session, proposed) })
		if err != nil {
			d.cfg.Log.Debug("a call did not run", "tool", proposed.Tool, "code", o.Code, "error", err)
		}
		return d.answer(m, t, o)
	})
	if t.asks.Load() {
		if answer, err = d.cfg.States.Seal(answer, m, d.cfg.Session, d.cfg.Server); err != nil {
			return d.failure(id, wire.CodeInternal, "the server's answer cannot be read in one way")
		}
	}
	return answer
}

// redecided is how often one call is decided on at most because its rules were
// replaced on the way, with a pause between that begins with redecidePause and
// doubles.
const (
	redecided     = 6
	redecidePause = 10 * time.Millisecond
)

// decided makes a call. One that was refused only because its rules were
// replaced while it walked is proposed again, so that the rules in force
// decide: nothing has run, and the refusal is in the record. What names an
// approval is not; people agreed under the rules of then.
func (d *Desk) decided(ctx context.Context, c verbatim.Call, call func() (verbatim.Outcome, error)) (verbatim.Outcome, error) {
	pause := redecidePause
	for n := 1; ; n++ {
		o, err := call()
		if o.Code != verbatim.CodePolicyChanged || o.Status != verbatim.StatusDenied || c.Approval != "" || n == redecided {
			return o, err
		}
		d.cfg.Log.Debug("the rules changed while a call was on its way; they decide again", "tool", c.Tool)
		select {
		case <-ctx.Done():
			return o, err
		case <-time.After(pause):
		}
		pause *= 2
	}
}

func (d *Desk) failure(id wire.ID, code wire.Code, text string) *wire.Message {
	return failure(d.cfg.Log, id, code, text)
}

// Overloaded turns a request away because too many are in flight; nil only if
// the answer cannot be built.
func Overloaded(log *slog.Logger, id wire.ID) *wire.Message {
	m, err := wire.NewError(id, wire.CodeOverloaded, "too many requests are in flight; nothing was done",
		fmt.Appendf(nil, `{"code":%q}`, verbatim.CodeOverloaded))
	if err != nil {
		log.Error("an error could not be built", "error", err)
		return nil
	}
	return m
}

func failure(log *slog.Logger, id wire.ID, code wire.Code, text string) *wire.Message {
	m, err := wire.NewError(id, code, text, nil)
	if err != nil { // only a text that is no Unicode could do that
		log.Error("an error could not be built", "error", err)
		return nil
	}
	return m
}

// proposed reads the call from the client's own bytes.
func (d *Desk) proposed(m *wire.Message) (verbatim.Call, error) {
	call := verbatim.Call{Tool: d.cfg.Server + "." + m.Name(), Arguments: m.Arguments(),
		ArgumentsAbsent: m.Arguments() == nil, CallID: string(m.ID().Raw()), Wait: d.cfg.Wait, Suspended: d.cfg.Waiting,
		Trace: d.traced(m), Wire: d.wired(m)}
	for _, x := range [...]struct {
		key  string
		into *string
	}{{wire.MetaApproval, &call.Approval}, {wire.MetaIdempotencyKey, &call.IdempotencyKey}, {wire.MetaSupersedes, &call.Supersedes}} {
		raw, found, err := m.Meta(x.key)
		if err != nil {
			return verbatim.Call{}, fmt.Errorf("_meta cannot be read in one way")
		}
		if !found {
			continue
		}
		v, err := canon.Decode(raw, canon.Options{})
		if err != nil || v.Kind() != canon.String || v.Text() == "" || len(v.Text()) > maxKey {
			return verbatim.Call{}, fmt.Errorf("_meta %s must be a string of 1 to %d bytes", x.key, maxKey)
		}
		*x.into = v.Text()
	}
	return call, nil
}

// maxKey is the longest idempotency key or action id, in bytes.
const maxKey = 255

// tools is the tool set of one call: it remembers the client's message, so
// that what is sent on differs from it in the closed list only.
type tools struct {
	desk    *Desk
	message *wire.Message
	trip    Trip
	// reload lists the server's tools again if they have changed: a call that
	// waited must not run on the definition that it began with.
	reload func() error
	// reply is the server's answer to the run itself. The run may outlive the
	// call, so another goroutine may set it late.
	reply atomic.Pointer[wire.Message]
	// asks: that answer asks the client for input.
	asks atomic.Bool
	// early gets the task that the server gave in place of an answer; nil where
	// the client has no use for one.
	early chan *wire.Message
}

// Tool finds a tool of this server by its catalog name.
func (t *tools) Tool(name string) (verbatim.Bound, bool) {
	prefix := t.desk.cfg.Server + "."
	if len(name) <= len(prefix) || name[:len(prefix)] != prefix {
		return verbatim.Bound{}, false
	}
	if t.desk.cfg.Allowed != nil && !t.desk.cfg.Allowed(name) {
		return verbatim.Bound{}, false
	}
	if err := t.reload(); err != nil {
		t.desk.cfg.Log.Warn("the server's tools could not be listed again", "error", err)
		return verbatim.Bound{}, false
	}
	found, ok := t.desk.roster.find(name[len(prefix):])
	if !ok {
		return verbatim.Bound{}, false
	}
	return verbatim.Bound{Tool: found.tool, Refused: found.refused, Server: t.desk.cfg.Identity,
		Audience: t.desk.cfg.Audience, Handler: &forward{tools: t, tool: found.tool, name: name[len(prefix):]}}, true
}

// forward sends one run to the server.
type forward struct {
	tools *tools
	tool  *catalog.Tool
	name  string
}

// Obeys: a read ends with its context where the line does.
func (f *forward) Obeys(in execute.Input) bool {
	return !f.tool.Mutation && f.tools.desk.line.Prompt(len(f.tools.message.Bytes())+len(in.Args().Text())+extra)
}

// extra is what a frame may grow by beside its arguments: an id of ours, a key.
const extra = 256

// Handle sends the client's message with the frozen arguments in it.
func (f *forward) Handle(ctx context.Context, in execute.Input) (execute.Output, error) {
	m, err := f.message(in)
	if err != nil {
		return execute.Output{}, notRun(err)
	}
	var trip Trip // a preview is nothing that the client knows of
	if !in.Preview() {
		trip = f.tools.trip
	}
	send := f.tools.desk.line.Run
	if !f.tool.Mutation { // nobody wants its late answer
		send, trip.Left = f.tools.desk.line.Ask, in.Meanwhile
	}
	answer, err := send(ctx, m, trip)
	if err != nil {
		return execute.Output{}, err
	}
	out, done, err := output(answer)
	out.Compared = compared(in, answer)
	if in.Preview() {
		return out, err
	}
	if err == nil && !done && isTask(answer) {
		return f.task(ctx, answer)
	}
	f.tools.asks.Store(!done)
	f.tools.reply.Store(answer)
	return out, err
}

func (f *forward) message(in execute.Input) (*wire.Message, error) {
	m, err := f.tools.message.WithoutOwnMeta()
	if err != nil {
		return nil, err
	}
	if in.Preview() { // a progress token names the run, not the preview
		if m, err = m.Without("/params/_meta/progressToken"); err != nil {
			return nil, err
		}
	}
	if m, err = m.WithName(f.name); err != nil {
		return nil, err
	}
	if m, err = keyed(m, f.tool, in); err != nil {
		return nil, err
	}
	if m, err = warranted(m, in); err != nil {
		return nil, err
	}
	return m.WithArguments(in.JSON())
}

func notRun(err error) error { return fmt.Errorf("%w: %w", execute.ErrNotRun, err) }

// output reads the server's answer. An error response is the server's own
// word that the tool did not do it. done is false where it asks for input.
func output(answer *wire.Message) (out execute.Output, done bool, err error) {
	if answer.Kind() == wire.KindError {
		return execute.Output{Bytes: answer.Fault(), IsError: true}, true, nil
	}
	flag, found, err := answer.Member("/result/isError")
	if err != nil {
		return out, true, fmt.Errorf("%w: %w", execute.ErrLost, err)
	}
	if said := string(flag); found && said != "true" && said != "false" || !bytes.HasPrefix(answer.Result(), []byte("{")) {
		return out, true, fmt.Errorf("%w: %w", execute.ErrLost, errMalformed)
	}
	if done, err = complete(answer); err != nil {
		return out, true, fmt.Errorf("%w: %w", execute.ErrLost, err)
	}
	return execute.Output{Bytes: answer.Result(), IsError: string(flag) == "true" || !done}, done, nil
}

// complete reports whether the tool says that it is done (MCP 2026-07-28,
// resultType; servers of earlier revisions send none). One that asks for input
// has, by its own word, not done it yet.
func complete(answer *wire.Message) (bool, error) {
	raw, found, err := answer.Member("/result/resultType")
	if err != nil || !found {
		return err == nil, err
	}
	return string(raw) == `"complete"`, nil
}

// errMalformed: the server answered, but not with the result of a tool. What
// it did is not known.
var errMalformed = errors.New("the server's answer is no tool result")

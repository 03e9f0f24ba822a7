package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// call takes one tools/call through the Gate and returns the answer for the
// client.
func (c *conn) call(ctx context.Context, m *wire.Message, f *flight) *wire.Message {
	if _, found, err := m.Member("/params/task"); found || err != nil {
		return c.failure(m.ID(), wire.CodeInvalidParams, "calls as tasks do not pass the gateway")
	}
	proposed, err := c.proposed(m)
	if err != nil {
		return c.failure(m.ID(), wire.CodeInvalidParams, err.Error())
	}
	if err := c.load(ctx); err != nil {
		c.log.Warn("the server's tools could not be listed", "error", err)
		return c.failure(m.ID(), wire.CodeInternal, "the server's tools could not be listed; nothing was called")
	}
	t := &tools{conn: c, message: m, flight: f, reload: func() error { return c.load(ctx) }}
	through := c.cfg.Gate.With(t)
	o, err := through.Call(ctx, c.cfg.Session, proposed)
	c.calls.Add(1) // the run may outlive the call; the server must outlive the run
	go func() { defer c.calls.Done(); through.Wait() }()
	if err != nil {
		c.log.Debug("a call did not run", "tool", proposed.Tool, "code", o.Code, "error", err)
	}
	return c.answer(m, t, o)
}

// proposed reads the call from the client's own bytes.
func (c *conn) proposed(m *wire.Message) (verbatim.Call, error) {
	call := verbatim.Call{Tool: c.cfg.Server + "." + m.Name(), Arguments: m.Arguments(),
		ArgumentsAbsent: m.Arguments() == nil, CallID: string(m.ID().Raw()), Wait: c.cfg.Wait, Suspended: c.cfg.Waiting}
	for key, into := range map[string]*string{
		wire.MetaApproval: &call.Approval, wire.MetaIdempotencyKey: &call.IdempotencyKey,
		wire.MetaSupersedes: &call.Supersedes,
	} {
		raw, found, err := m.Meta(key)
		if err != nil {
			return verbatim.Call{}, fmt.Errorf("_meta cannot be read in one way")
		}
		if !found {
			continue
		}
		v, err := canon.Decode(raw, canon.Options{})
		if err != nil || v.Kind() != canon.String || v.Text() == "" || len(v.Text()) > maxKey {
			return verbatim.Call{}, fmt.Errorf("_meta %s must be a string of 1 to %d bytes", key, maxKey)
		}
		*into = v.Text()
	}
	return call, nil
}

// maxKey is the longest idempotency key or action id, in bytes.
const maxKey = 255

// tools is the tool set of one call: it remembers the client's message, so
// that what is sent on differs from it in the closed list only.
type tools struct {
	conn    *conn
	message *wire.Message
	flight  *flight
	// reload lists the server's tools again if they have changed: a call that
	// waited must not run on the definition that it began with.
	reload func() error
	// reply is the server's answer to the run itself. The run may outlive the
	// call, so another goroutine may set it late.
	reply atomic.Pointer[wire.Message]
}

// Tool finds a tool of this server by its catalog name.
func (t *tools) Tool(name string) (verbatim.Bound, bool) {
	prefix := t.conn.cfg.Server + "."
	if len(name) <= len(prefix) || name[:len(prefix)] != prefix {
		return verbatim.Bound{}, false
	}
	if err := t.reload(); err != nil {
		t.conn.log.Warn("the server's tools could not be listed again", "error", err)
		return verbatim.Bound{}, false
	}
	t.conn.list.mu.Lock()
	found, ok := t.conn.list.tools[name[len(prefix):]]
	t.conn.list.mu.Unlock()
	if !ok {
		return verbatim.Bound{}, false
	}
	return verbatim.Bound{Tool: found.tool, Refused: found.refused,
		Handler: &forward{tools: t, name: name[len(prefix):]}}, true
}

// forward sends one run to the server.
type forward struct {
	tools *tools
	name  string
}

// Handle sends the client's message with the frozen arguments in it.
func (f *forward) Handle(ctx context.Context, in execute.Input) (execute.Output, error) {
	m, err := f.message(in)
	if err != nil {
		return execute.Output{}, fmt.Errorf("%w: %w", execute.ErrNotRun, err)
	}
	c := f.tools.conn
	answer, err := c.up.run(ctx, m, func(id wire.ID) {
		if !in.Preview() {
			c.sent(f.tools.flight, id)
		}
	})
	if err != nil {
		return execute.Output{}, err
	}
	if !in.Preview() {
		f.tools.reply.Store(answer)
	}
	return output(answer)
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
	return m.WithArguments(in.JSON())
}

// output reads the server's answer. An error response is the server's own
// word that the tool did not do it.
func output(answer *wire.Message) (execute.Output, error) {
	if answer.Kind() == wire.KindError {
		return execute.Output{Bytes: answer.Fault(), IsError: true}, nil
	}
	flag, found, err := answer.Member("/result/isError")
	if err != nil {
		return execute.Output{}, fmt.Errorf("%w: %w", execute.ErrLost, err)
	}
	if said := string(flag); found && said != "true" && said != "false" || !bytes.HasPrefix(answer.Result(), []byte("{")) {
		return execute.Output{}, fmt.Errorf("%w: %w", execute.ErrLost, errMalformed)
	}
	return execute.Output{Bytes: answer.Result(), IsError: string(flag) == "true"}, nil
}

// errMalformed: the server answered, but not with the result of a tool. What
// it did is not known.
var errMalformed = errors.New("the server's answer is no tool result")

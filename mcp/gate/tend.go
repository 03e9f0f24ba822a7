package gate

import (
	"context"
	"strings"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// tendEvery is how often the uncertain actions of a server are looked for.
const tendEvery = 2 * time.Second

// Tending is one line to a server over which uncertain actions are settled.
type Tending struct {
	Gate   *verbatim.Gate
	Server string // its name in the catalog
	Roster *Roster
	Line   Line
	// Identity names the server: another of the same name would not know the
	// keys of what this one was sent.
	Identity canon.Digest
	Audience string // of warrants; see [Config]
	// Prepare, if not nil, gives a request of ours what the server wants to
	// see in each.
	Prepare func(*wire.Message) (*wire.Message, error)
	Every   time.Duration // 0 means 2 s
}

// Tend settles what is uncertain of the tools of one server, as far as the
// catalog lets it, until ctx ends. It waits until the server's tools have
// been listed for a client. What it has sent is finished before it returns.
func (t Tending) Tend(ctx context.Context) {
	if t.Every <= 0 {
		t.Every = tendEvery
	}
	through := t.Gate.With(again{t})
	through.Tend(ctx, verbatim.Upkeep{Every: t.Every,
		Only: func(a action.Action) bool { return strings.HasPrefix(a.Tool, t.Server+".") }})
	through.Wait()
}

// again is the tool set of attempts that no client waits for.
type again struct{ Tending }

// Tool finds a tool of the server by its catalog name, once it is listed.
func (a again) Tool(name string) (verbatim.Bound, bool) {
	prefix := a.Server + "."
	if len(name) <= len(prefix) || name[:len(prefix)] != prefix {
		return verbatim.Bound{}, false
	}
	if !a.Roster.answers() { // the connection may not be greeted yet
		return verbatim.Bound{}, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), relistTime)
	defer cancel()
	if err := a.Roster.Load(ctx); err != nil {
		return verbatim.Bound{}, false
	}
	found, ok := a.Roster.find(name[len(prefix):])
	if !ok {
		return verbatim.Bound{}, false
	}
	return verbatim.Bound{Tool: found.tool, Refused: found.refused, Server: a.Identity, Audience: a.Audience, Handler: resend{a.Tending, found.tool, name[len(prefix):]}}, true
}

// relistTime bounds a listing that no client waits for.
const relistTime = 10 * time.Second

// resend sends one run to the server without a client's message.
type resend struct {
	Tending
	tool *catalog.Tool
	name string
}

// Handle makes a request of the frozen arguments.
func (r resend) Handle(ctx context.Context, in execute.Input) (execute.Output, error) {
	m, err := r.message(in)
	if err != nil {
		return execute.Output{}, notRun(err)
	}
	answer, err := r.Line.Run(ctx, m, Trip{})
	if err != nil {
		return execute.Output{}, err
	}
	out, _, err := output(answer)
	out.Compared = compared(in, answer)
	return out, err
}

func (r resend) message(in execute.Input) (*wire.Message, error) {
	m, err := wire.NewRequest(wire.NumberID(0), "tools/call", []byte(`{"name":"x","arguments":{}}`))
	if err != nil {
		return nil, err
	}
	if m, err = m.WithName(r.name); err != nil {
		return nil, err
	}
	if r.Prepare != nil {
		if m, err = r.Prepare(m); err != nil {
			return nil, err
		}
	}
	if m, err = m.WithoutOwnMeta(); err != nil {
		return nil, err
	}
	if m, err = keyed(m, r.tool, in); err != nil {
		return nil, err
	}
	if m, err = warranted(m, in); err != nil {
		return nil, err
	}
	return m.WithArguments(in.JSON())
}

// warranted puts the warrant beside the arguments, where the server takes one.
func warranted(m *wire.Message, in execute.Input) (*wire.Message, error) {
	w := in.Warrant()
	if len(w) == 0 {
		return m, nil
	}
	return m.WithMeta(wire.MetaWarrant, w)
}

// compared is what a server that checks warrants said of its check; "" where
// none was sent.
func compared(in execute.Input, answer *wire.Message) string {
	if len(in.Warrant()) == 0 {
		return ""
	}
	said, found, err := answer.Meta(wire.MetaVerdict)
	if err != nil || !found {
		return execute.CompareUnchecked
	}
	for _, v := range warrant.Verdicts() {
		switch {
		case string(said) != `"`+string(v)+`"`:
		case v == warrant.OK:
			return execute.CompareEqual
		default:
			return string(v)
		}
	}
	return execute.CompareUnchecked
}

// keyed hands the provider key to a server whose tool takes one, in _meta:
// the arguments are frozen.
func keyed(m *wire.Message, t *catalog.Tool, in execute.Input) (*wire.Message, error) {
	if in.Preview() || in.ProviderKey() == "" {
		return m, nil
	}
	switch t.Effect {
	case catalog.Keyed, catalog.KeyedCancel, catalog.LocalTx, catalog.Queryable:
		return m.WithMeta(wire.MetaIdempotencyKey, []byte(`"`+in.ProviderKey()+`"`))
	default:
		return m, nil
	}
}

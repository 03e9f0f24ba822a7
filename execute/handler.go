package execute

import (
	"context"
	"errors"

	"github.com/seed-de4804fb/verbatim/internal/permit"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Handler is a tool. It gets the frozen arguments and nothing else of the
// proposal. It must not answer before its effect is done or has failed.
//
// An error is the tool's own word that it failed. Wrap [ErrNotRun] where
// nothing can have happened; a context error means that nobody knows.
type Handler interface {
	Handle(ctx context.Context, in Input) (Output, error)
}

// Obedient is a Handler that returns soon after its context ends, whatever the
// tool does, for the inputs of which Obeys says so. [Run] calls it for a read
// on the caller's own goroutine: another one would cost more than it gives.
type Obedient interface {
	Handler
	Obeys(in Input) bool
}

// HandlerFunc makes a function a Handler.
type HandlerFunc func(ctx context.Context, in Input) (Output, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, in Input) (Output, error) { return f(ctx, in) }

// Input is one fresh decode of, or the very bytes of, the snapshot.
type Input struct {
	permit    permit.Permit
	args      snapshot.Snapshot
	meanwhile func()
}

// JSON returns a fresh copy of argsCanonicalJson.
func (in Input) JSON() []byte { return in.args.JSON() }

// Args returns the frozen arguments.
func (in Input) Args() snapshot.Snapshot { return in.args }

// View decodes a fresh Go tree; changing it changes nothing else.
func (in Input) View() map[string]any { return in.args.View() }

// ActionID names the recorded action or decision.
func (in Input) ActionID() string { return in.permit.Action() }

// ProviderKey is the idempotency key to hand to a provider that takes one.
// It is the same for every attempt of one action.
func (in Input) ProviderKey() string { return in.permit.ProviderKey() }

// Warrant is the signed permission for an executor that checks it, a DSSE
// envelope (docs/spec/warrant.md); nil if the tool's takes none.
func (in Input) Warrant() []byte { return in.permit.Warrant() }

// Preview reports whether this is a dry run: the tool must change nothing.
func (in Input) Preview() bool { return in.permit.Kind() == permit.Preview }

// Meanwhile does what the caller has to do while the tool works. A handler that
// has sent its request and only waits may call it; once is enough.
func (in Input) Meanwhile() {
	if in.meanwhile != nil {
		in.meanwhile()
	}
}

// Output is what a tool answered.
type Output struct {
	Bytes   []byte // JSON; kept and replayed byte for byte
	IsError bool   // the tool itself reports that it failed
	// Compared is what the executor said of the arguments that it received:
	// CompareEqual, CompareUnchecked, or why it refused them. "" stands for a tool
	// that is called with the very bytes, so that there is nothing to compare.
	Compared string
}

// ErrNotRun is proof that the tool did not run: nothing was sent.
var ErrNotRun = errors.New("the tool did not run")

// ErrLost says that bytes have left but no answer can come any more: nobody
// knows whether the tool ran.
var ErrLost = errors.New("the connection to the tool was lost")

// ErrPermit is returned where the right to run is missing.
var ErrPermit = errors.New("no permit for this run")

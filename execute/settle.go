package execute

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/permit"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// Verdict is what a provider says about an attempt whose end nobody knows.
type Verdict uint8

// The verdicts. The zero value says nothing.
const (
	Unsaid    Verdict = iota
	Happened          // it took effect
	Prevented         // it did not, and never will: the provider refuses its key from now on
)

// Finding is one answer of a provider.
type Finding struct {
	Verdict Verdict
	Output  Output // what the tool would have answered, where the provider still knows it
}

// Lookuper is a Handler whose provider can be asked for an attempt, by its
// provider key or by the frozen arguments. Lookup must change nothing.
//
// Only Happened counts. A provider that does not know the attempt proves
// nothing: the request may still be on its way (reliability 0, finding 2).
type Lookuper interface {
	Lookup(ctx context.Context, in Input) (Finding, error)
}

// Canceller is a Handler whose provider can refuse a key for ever. Cancel
// answers Prevented only if the provider has accepted that, also for a key
// that it has never seen, and Happened if the effect is there already.
type Canceller interface {
	Cancel(ctx context.Context, in Input) (Finding, error)
}

// errFinding: the provider's answer is none.
var errFinding = errors.New("the provider gave no answer")

// Lookup asks whether an attempt took effect. It answers Happened or Unknown,
// and fails with [ErrPermit] where the permit is not one for asking; what
// goes wrong at the tool is Unsaid beside an error.
func Lookup(ctx context.Context, p permit.Permit, h Lookuper, timeout time.Duration) (Finding, error) {
	f, err := ask(ctx, p, timeout, h.Lookup)
	if f.Verdict != Happened {
		return Finding{}, err
	}
	return f, err
}

// Cancel asks the provider to refuse an attempt for ever. It fails like
// [Lookup].
func Cancel(ctx context.Context, p permit.Permit, h Canceller, timeout time.Duration) (Finding, error) {
	f, err := ask(ctx, p, timeout, h.Cancel)
	if f.Verdict == Prevented {
		f.Output = Output{}
	}
	return f, err
}

// ask bounds what a tool may do with a question: panic, never return, answer
// more than is kept.
func ask(ctx context.Context, p permit.Permit, timeout time.Duration, question func(context.Context, Input) (Finding, error)) (Finding, error) {
	if !p.Valid() || p.Kind() != permit.Question || timeout <= 0 {
		return Finding{}, ErrPermit
	}
	args, err := snapshot.Thaw(p.Args())
	if err != nil {
		return Finding{}, fmt.Errorf("%w: frozen bytes are not canonical", ErrPermit)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	type answer struct {
		finding Finding
		err     error
	}
	answers := make(chan answer, 1)
	go func() {
		a := answer{err: errPanic}
		defer func() {
			_ = recover() // the panic value may hold an argument
			answers <- a
		}()
		finding, err := question(ctx, Input{permit: p, args: args})
		a = answer{finding, err}
	}()
	select {
	case a := <-answers:
		return sound(a.finding, a.err)
	case <-ctx.Done():
		return Finding{}, fmt.Errorf("%w: %w", errFinding, ctx.Err())
	}
}

// sound drops what an error, a made-up verdict or a reported failure takes
// back, and an output that is too large to keep.
func sound(f Finding, err error) (Finding, error) {
	switch {
	case err != nil:
		return Finding{}, err
	case f.Verdict > Prevented, f.Verdict == Happened && f.Output.IsError:
		return Finding{}, errFinding
	case len(f.Output.Bytes) > MaxOutput:
		f.Output = Output{}
	}
	return f, nil
}

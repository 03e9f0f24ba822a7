package policy

import (
	"context"
	"time"
)

// Prompt is an [Engine] that answers some calls at once: in a time that the
// size of rules and arguments bounds far below [MinTimeout], without waiting
// for anything. [Evaluate] asks it on the caller's own goroutine, because
// another one would cost more than the answer. A wrapper that changes what
// Decide says must not take over the Answer of the engine inside.
type Prompt interface {
	Engine
	// Answer says what Decide would say, or false where it cannot tell at
	// once; then Decide is asked. It must not fail for a call that Decide
	// answers, nor end its goroutine, and unlike Decide it gets no copies: it
	// must neither change nor keep what in holds. Evaluate treats the answers
	// of both alike: it copies them, so that one decision may be given again; a
	// panic denies, so does an answer after the timeout.
	Answer(in Input) (Decision, bool)
}

// promptly asks for the answer that costs no goroutine.
func promptly(ctx context.Context, e Prompt, in *Input, timeout time.Duration) (d Decision, answered bool) {
	begun := time.Now()
	defer func() {
		// The panic value may hold arguments: it goes nowhere.
		if recover() != nil {
			d, answered = refusal(ReasonError, "the policy engine panicked"), true
		}
	}()
	in.view = &handedView{}
	said, ok := e.Answer(*in)
	switch {
	case !ok:
		return Decision{}, false
	case ctx.Err() != nil:
		return unheard(ctx.Err()), true
	case time.Since(begun) > timeout:
		return unheard(context.DeadlineExceeded), true
	default:
		return concluded(&said, nil, e, in), true
	}
}

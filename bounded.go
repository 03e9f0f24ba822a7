package verbatim

import (
	"context"
	"errors"
	"time"
)

// The time that schema and resolvers of one call have.
const (
	defaultResolveTimeout = 10 * time.Second
	minResolveTimeout     = 10 * time.Millisecond
	maxResolveTimeout     = time.Minute
)

// errPanicked stands for a panic: its value may hold an argument.
var errPanicked = errors.New("code of the embedder panicked")

// bounded runs code of the embedder that may panic or never return. What it
// answers after its time goes nowhere; its goroutine ends when it does. f must
// not write to what the caller reads.
func bounded[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		a := answer{err: errPanicked}
		defer func() {
			_ = recover()
			answers <- a
		}()
		value, err := f(ctx)
		a = answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func resolveTimeout(d time.Duration) time.Duration {
	if d == 0 {
		return defaultResolveTimeout
	}
	return min(max(d, minResolveTimeout), maxResolveTimeout)
}

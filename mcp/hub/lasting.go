package hub

import (
	"context"
	"sync"
)

// lasting is a context that ends with another one too, and when it is stopped.
// Most calls only ask it whether it has ended: the channel that says so, which
// both contexts must be told to close, is made for who waits.
type lasting struct {
	context.Context
	end context.Context // ends it too

	mu      sync.Mutex
	made    context.Context // once somebody waits
	cancel  context.CancelFunc
	stopped bool
}

// Value is that of a context.Context. It leads package context past the one that
// this is made of, which ends on its own: context.Cause would ask only that one.
func (l *lasting) Value(key any) any { return context.WithoutCancel(l.Context).Value(key) }

// Done is that of a context.Context.
func (l *lasting) Done() <-chan struct{} { return l.waited().Done() }

// AfterFunc spares package context a goroutine for each context made of this one.
func (l *lasting) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(l.waited(), f) }

// Err is that of a context.Context.
func (l *lasting) Err() error {
	l.mu.Lock()
	made, stopped := l.made, l.stopped
	l.mu.Unlock()
	switch {
	case made != nil:
		return made.Err() // which goes with its channel
	case l.Context.Err() != nil:
		return l.Context.Err()
	case stopped || l.end.Err() != nil:
		return context.Canceled
	default:
		return nil
	}
}

// waited is the context with a channel.
func (l *lasting) waited() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil {
		ctx, cancel := context.WithCancel(l.Context)
		unheard := context.AfterFunc(l.end, cancel)
		l.made, l.cancel = ctx, func() { unheard(); cancel() }
		if l.stopped || l.end.Err() != nil { // what Err has said stays true
			l.cancel()
		}
	}
	return l.made
}

// stop ends it.
func (l *lasting) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped = true; l.cancel != nil {
		l.cancel()
	}
}

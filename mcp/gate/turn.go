package gate

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// turn lets the goroutine that reads a client take a call through by itself:
// another one would have to be woken for it. If that takes longer than a
// moment, a new goroutine reads on, and the next calls get goroutines of
// their own again.
type turn struct {
	mu      sync.Mutex
	number  uint64 // of the last call that a reader took through
	busy    uint64 // the call that the reader is taking through; 0 means it reads
	seen    uint64 // busy, when the watch last looked
	slow    int    // how many calls get goroutines of their own
	watched bool
}

// slowCalls is for how many calls a reader does not try again.
const slowCalls = 32

// begin reports whether the reader takes the next call through itself. next
// starts a reader in its place.
func (t *turn) begin(next func()) (number uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.slow > 0 {
		t.slow--
		return 0, false
	}
	t.number++
	t.busy = t.number
	if !t.watched {
		t.watched = true
		go t.watch(next)
	}
	return t.number, true
}

// done reports whether the goroutine still is the reader.
func (t *turn) done(number uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy != number {
		return false
	}
	t.busy = 0
	return true
}

// watch looks after the reader while calls follow each other closely.
func (t *turn) watch(next func()) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	last := uint64(0)
	for unused, more := 0, true; more; {
		<-tick.C
		unused, last, more = t.look(next, unused, last)
	}
}

// look relieves a reader that has been with one call since the last look.
func (t *turn) look(next func(), unused int, last uint64) (_ int, _ uint64, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy != 0 && t.busy == t.seen {
		t.busy, t.slow = 0, slowCalls
		go next()
	}
	t.seen = t.busy
	if t.number != last || t.busy != 0 {
		return 0, t.number, true
	}
	t.watched = unused < watchFor
	return unused + 1, last, t.watched
}

// readClient reads the client until its stream ends, which it tells, or until
// another goroutine reads on.
func (c *conn) readClient(ctx context.Context, in *wire.Reader, gone chan<- error) {
	next := func() { c.readClient(ctx, in, gone) }
	for {
		m, err := c.hear(in)
		var bad *wire.Error
		switch {
		case errors.As(err, &bad):
			c.log.Warn("a frame of the client was refused", "error", bad)
			if bad.Answerable {
				c.send(bad.Response())
			}
		case err != nil:
			gone <- err
			return
		case m.Kind() == wire.KindRequest && m.Method() == "tools/call" && in.Buffered() == 0:
			if !c.quickly(ctx, m, next) {
				return
			}
		default:
			c.fromClient(ctx, m)
		}
	}
}

// quickly takes a call through on the reader's own goroutine, or starts one
// for it. It reports whether the caller still is the reader.
func (c *conn) quickly(ctx context.Context, m *wire.Message, next func()) bool {
	answer := c.request(ctx, m)
	if answer == nil {
		return true
	}
	number, ok := c.turn.begin(next)
	if !ok {
		go answer()
		return true
	}
	answer()
	return c.turn.done(number)
}

// hear reads one frame of the client. One that asks again as soon as it has an
// answer is looked for, while nothing else is under way that a processor could
// be needed for.
func (c *conn) hear(in *wire.Reader) (*wire.Message, error) {
	if c.ear == nil || in.Buffered() > 0 || c.busy() {
		return in.Read()
	}
	c.ear.Look(c.beat.Quick())
	begun := time.Now()
	m, err := in.Read()
	c.ear.Look(false)
	c.beat.Took(time.Since(begun))
	return m, err
}

func (c *conn) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.live) > 0
}

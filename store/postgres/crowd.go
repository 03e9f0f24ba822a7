package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// crowd lets callers who ask for the same kind of thing at once share one
// transaction. Who comes while few are under way is served alone and at once;
// whoever comes meanwhile is served together with the others who wait.
type crowd[In, Out any] struct {
	serve  func([]*turn[In, Out]) // answers every turn, or has it go alone
	atOnce int                    // how many are served before the others wait

	mu      sync.Mutex
	waiting []*turn[In, Out]
	serving int
	last    int // how many were served together last
}

// turn is what one caller asks for.
type turn[In, Out any] struct {
	ctx  context.Context
	in   In
	out  Out
	err  error
	solo bool // its caller has to do it alone
	done chan struct{}
}

const (
	// maxCrowd is how many share one transaction at most.
	maxCrowd = 64
	// maxShared is how many bytes of payload or result somebody may bring.
	maxShared = 64 << 10
	// crowdPatience of those who wait: what takes longer, for a lock or a standby,
	// holds up no others.
	crowdPatience = 50 * time.Millisecond
)

// ask waits for a turn and its answer. solo says that there is none, nothing
// happened, and the caller has to do it alone. A caller whose ctx ends before
// its turn has come leaves.
func (c *crowd[In, Out]) ask(ctx context.Context, in In) (out Out, solo bool, err error) {
	t := &turn[In, Out]{ctx: ctx, in: in, done: make(chan struct{})}
	c.mu.Lock()
	c.waiting = append(c.waiting, t)
	if c.serving < c.atOnce && c.worthwhile() {
		c.serving++
		go c.work()
	}
	c.mu.Unlock()
	select {
	case <-t.done:
	case <-ctx.Done():
		if c.leave(t) {
			return out, false, fmt.Errorf("write store: %w", ctx.Err())
		}
		<-t.done
	}
	return t.out, t.solo, t.err
}

// worthwhile reports whether those who wait should be served beside others.
// Where many come, few are not: they wait for the others' end, with more who
// come meanwhile.
func (c *crowd[In, Out]) worthwhile() bool { return c.serving == 0 || len(c.waiting) > c.last/2 }

// leave takes back a turn that has not come.
func (c *crowd[In, Out]) leave(t *turn[In, Out]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.waiting, t)
	if i < 0 {
		return false
	}
	c.waiting = slices.Delete(c.waiting, i, i+1)
	return true
}

// next are those whose turn it is; none ends the work.
func (c *crowd[In, Out]) next() []*turn[In, Out] {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.waiting), maxCrowd)
	if c.serving--; n == 0 || !c.worthwhile() {
		return nil
	}
	c.serving++
	c.last = n
	turns := slices.Clone(c.waiting[:n])
	c.waiting = slices.Delete(c.waiting, 0, n)
	return turns
}

func (c *crowd[In, Out]) work() {
	timer := time.NewTimer(crowdPatience)
	defer timer.Stop()
	for turns := c.next(); turns != nil; turns = c.next() {
		served := make(chan struct{})
		go func() {
			defer close(served)
			c.serve(turns)
			for _, t := range turns {
				close(t.done)
			}
		}()
		timer.Reset(crowdPatience)
		select {
		case <-served:
		case <-timer.C:
		}
	}
}

package gate

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Late returns a context for the run of a tool that may have to wait for its
// connection. It ends with ctx until begin is called, just before the request
// leaves; from then on it goes on for LateFor after a deadline, because an
// answer settles what was called uncertain meanwhile. begin reports false, and
// the request must not leave, where the time is over: others have given it up.
func Late(ctx context.Context) (late context.Context, begin func() bool, cancel context.CancelFunc) {
	var begun atomic.Bool
	out, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if !begun.Load() || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			end()
			return
		}
		time.AfterFunc(LateFor, end)
	})
	return out, func() bool { begun.Store(true); return ctx.Err() == nil && out.Err() == nil }, func() { stop(); end() }
}

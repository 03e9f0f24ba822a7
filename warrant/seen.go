package warrant

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Seen remembers which warrants were used. It must decide and remember in one
// step, for all who may run the same call.
type Seen interface {
	// Use takes the one use of a warrant: OK the first time, Replayed
	// afterwards, OtherAttempt where the attempt was sent again since. An error
	// lets nothing run.
	Use(ctx context.Context, w Warrant) (Verdict, error)
}

// memorySize is how many actions a Memory holds at once: over 2,000 starts a
// second.
const memorySize = 1 << 16

// keep is how long after its deadline a use is remembered: longer than any
// clock that is still taken can go back.
const keep = time.Minute

// ErrFull says that a memory holds too many uses whose deadline has not
// passed. Nothing runs rather than twice.
var ErrFull = errors.New("too many warrants are in use at once")

// Memory is the memory of one process. What was signed before it began counts
// as used: an earlier process may have run it.
type Memory struct {
	now   func() time.Time
	began time.Time

	mu    sync.Mutex
	uses  map[string]use // by action
	swept time.Time
	// forgot is the latest end of a use that was forgotten. A clock that was set
	// back must not bring the warrants of that time to life again.
	forgot time.Time
}

type use struct {
	fence int64
	until time.Time
}

// NewMemory begins a memory. now is the executor's clock.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{now: now, began: now().Truncate(time.Millisecond), uses: map[string]use{}}
}

// Use takes the one use of a warrant. It fails with ErrFull.
func (m *Memory) Use(_ context.Context, w Warrant) (Verdict, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.IssuedAt.Before(m.began) {
		return Replayed, nil
	}
	m.sweep()
	if !w.SendBy.Add(keep).After(m.forgot) {
		return Replayed, nil
	}
	last, used := m.uses[w.Action]
	switch {
	case used && w.Fence < last.fence:
		return OtherAttempt, nil
	case used && w.Fence == last.fence:
		return Replayed, nil
	case !used && len(m.uses) >= memorySize:
		return "", ErrFull
	}
	m.uses[w.Action] = use{w.Fence, w.SendBy.Add(keep)}
	return OK, nil
}

// sweep forgets what no warrant that is still taken can repeat.
func (m *Memory) sweep() {
	now := m.now()
	if now.Sub(m.swept) < time.Second && len(m.uses) < memorySize {
		return
	}
	m.swept = now
	for id, u := range m.uses {
		if now.After(u.until) {
			delete(m.uses, id)
			if u.until.After(m.forgot) {
				m.forgot = u.until
			}
		}
	}
}

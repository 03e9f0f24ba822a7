package verbatim

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// Upkeep says what [Gate.Tend] looks after.
type Upkeep struct {
	Every time.Duration // 0 means 1 s
	// Filter selects the uncertain actions; the zero filter selects all.
	Filter action.Filter
	// Only, if not nil, chooses among those.
	Only func(action.Action) bool
	// Sweep also ends what is overdue. One loop of each process should.
	Sweep bool
}

// An uncertain action is asked about again after a while that doubles.
const (
	firstPause = time.Second
	longPause  = 5 * time.Minute
)

// Tend looks after the store until ctx ends: it sweeps, and it tries to
// settle what is uncertain, at first after a second, then ever less often. A
// host starts it once; providers are asked beside the sweep, so that a slow
// one does not hold it up.
func (g *Gate) Tend(ctx context.Context, u Upkeep) {
	if u.Every <= 0 {
		u.Every = time.Second
	}
	tick := time.NewTicker(u.Every)
	defer tick.Stop()
	asking := make(chan struct{}, 1)
	pauses := map[string]pause{}
	for {
		if u.Sweep {
			if _, err := g.Sweep(ctx, false); err != nil && ctx.Err() == nil {
				g.log.Error("the sweep failed", "error", err)
			}
		}
		select {
		case asking <- struct{}{}:
			go func() {
				defer func() { <-asking }()
				pauses = g.settleRound(ctx, u, pauses)
			}()
		default: // the last round is still asking
		}
		select {
		case <-ctx.Done():
			asking <- struct{}{} // the last round has ended
			return
		case <-tick.C:
		}
	}
}

// pause is when an action is asked about next.
type pause struct {
	until  time.Time
	length time.Duration
}

// settleRound asks about what is due and returns the pauses of what was there.
func (g *Gate) settleRound(ctx context.Context, u Upkeep, old map[string]pause) map[string]pause {
	now, next := time.Now(), map[string]pause{}
	_, err := g.settleDue(ctx, u.Filter, func(a action.Action) bool {
		if u.Only != nil && !u.Only(a) {
			return false
		}
		p, known := old[a.ID]
		if !known {
			p = pause{until: now.Add(firstPause), length: firstPause}
		}
		due := known && !now.Before(p.until)
		if due {
			p.length = min(2*p.length, longPause)
			p.until = now.Add(p.length)
		}
		next[a.ID] = p
		return due
	})
	if err != nil && ctx.Err() == nil {
		g.log.Error("uncertain actions could not be settled", "error", err)
	}
	return next
}

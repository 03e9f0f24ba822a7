package verbatim

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// Now is the time by the store's clock, which is the one that decides.
func (g *Gate) Now(ctx context.Context) (time.Time, error) { return g.cfg.Store.Now(ctx) }

// Counts counts the open actions of a tenant by state, and says since when
// the oldest is in it.
func (g *Gate) Counts(ctx context.Context, tenant string) ([]action.Count, error) {
	return g.cfg.Store.Counts(ctx, tenant)
}

// Earlier says what took effect before and is like an action, for people who
// decide on it. It is read from what is stored; it decides nothing.
func (g *Gate) Earlier(ctx context.Context, a action.Action) (action.Earlier, error) {
	return g.cfg.Store.Earlier(ctx, a)
}

// ForgetKeys forgets idempotency keys of actions that ended longer ago than
// keep, which must outlive whatever callers and providers may still repeat.
// Keys of open and uncertain actions are never forgotten.
func (g *Gate) ForgetKeys(ctx context.Context, keep time.Duration) (int, error) {
	return g.cfg.Store.ForgetKeys(ctx, keep)
}

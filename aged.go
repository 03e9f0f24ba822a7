package verbatim

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/policy"
)

// maxAge is how old a resolver's answer may be at the commit point.
const maxAge = 5 * time.Second

// aged says what no longer holds after a long walk, such as one with a slow
// dry run: a code and the member, or "". Rules that were replaced meanwhile
// decide nothing any more. A decision ends at its own end. An
// answer older than maxAge is asked for again and compared; the frozen value
// runs, the new answer never does (semantics §3).
func (g *Gate) aged(ctx context.Context, p *proposal, d policy.Decision) (Code, string, error) {
	if !g.inForce(p) {
		return CodePolicyChanged, "policyVersion", nil
	}
	if len(p.answered) == 0 && d.ExpiresAt.IsZero() {
		return "", "", nil
	}
	now, err := g.cfg.Store.Now(ctx)
	if err != nil {
		return "", "", err
	}
	if !d.ExpiresAt.IsZero() && !now.Before(d.ExpiresAt) {
		return CodeExpired, "expiresAt", nil
	}
	if now.Sub(p.now) <= maxAge {
		return "", "", nil
	}
	if member := g.changedAnswer(ctx, p, now); member != "" {
		return CodeTargetChanged, member, nil
	}
	return "", "", nil
}

// changedAnswer asks the resolvers again and names the first member whose
// answer differs; one that cannot answer any more differs too.
func (g *Gate) changedAnswer(ctx context.Context, p *proposal, now time.Time) string {
	again, err := g.resolve(ctx, p, now)
	if err != nil {
		return "resolvers"
	}
	return approval.Moved(action.Action{Evidence: p.frozen.Evidence}, action.Action{Evidence: evidence(again.answered)})
}

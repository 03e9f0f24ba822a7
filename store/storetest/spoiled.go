package storetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
)

// Stores with a planted bug, to see that the harness sees.

// lenientClaim tells whoever comes too late that the claim is theirs.
type lenientClaim struct{ verbatim.Store }

func (s *lenientClaim) Claim(ctx context.Context, id string, lease time.Duration) (action.Action, error) {
	row, err := s.Store.Claim(ctx, id, lease)
	if errors.Is(err, action.ErrState) && row.State == action.Claimed {
		err = nil
	}
	return row, err
}

// lenientBegin takes a row that runs already for one that it has started.
type lenientBegin struct{ verbatim.Store }

func (s *lenientBegin) Begin(ctx context.Context, start action.Start) (action.Action, error) {
	row, err := s.Store.Begin(ctx, start)
	if errors.Is(err, action.ErrState) && row.State == action.Executing {
		err = nil
	}
	return row, err
}

// staleRead answers reads from what was read before, as a replica would.
type staleRead struct {
	verbatim.Store
	mu   sync.Mutex
	rows map[string]action.Action // guarded by mu
}

func (s *staleRead) Action(ctx context.Context, tenant, id string) (action.Action, error) {
	row, err := s.Store.Action(ctx, tenant, id)
	if err != nil {
		return row, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[string]action.Action{}
	}
	before, known := s.rows[id]
	s.rows[id] = row
	if known {
		return before, nil
	}
	return row, nil
}

// looseFence ends a run for whoever says so.
type looseFence struct{ verbatim.Store }

func (s *looseFence) Finish(ctx context.Context, e action.Ending) (action.Action, error) {
	row, err := s.Store.Finish(ctx, e)
	if errors.Is(err, action.ErrFence) {
		e.Fence = row.Fence
		return s.Store.Finish(ctx, e)
	}
	return row, err
}

// deafStop lists a stop of an agent as it was set, and stops another one.
type deafStop struct{ verbatim.Store }

const deafened = "not "

func (s *deafStop) Stop(ctx context.Context, stop action.Stop) (int, error) {
	if stop.Agent != "" {
		stop.Agent = deafened + stop.Agent
	}
	return s.Store.Stop(ctx, stop)
}

func (s *deafStop) Resume(ctx context.Context, stop action.Stop) error {
	if stop.Agent != "" {
		stop.Agent = deafened + stop.Agent
	}
	return s.Store.Resume(ctx, stop)
}

func (s *deafStop) Stops(ctx context.Context, tenant string) ([]action.Stop, error) {
	all, err := s.Store.Stops(ctx, tenant)
	for i := range all {
		all[i].Agent = strings.TrimPrefix(all[i].Agent, deafened)
	}
	return all, err
}

// deafRevocation says that a standing grant is revoked, and leaves it.
type deafRevocation struct{ verbatim.Store }

func (s *deafRevocation) RevokeGrant(ctx context.Context, tenant, id, account string) (action.StandingGrant, error) {
	return s.StandingGrant(ctx, tenant, id)
}

// twiceSigned takes the second signature of one account for a new one.
type twiceSigned struct{ verbatim.Store }

func (s *twiceSigned) SignGrant(ctx context.Context, v action.Vote) (action.StandingGrant, error) {
	g, err := s.Store.SignGrant(ctx, v)
	if errors.Is(err, action.ErrVoted) {
		return g, nil
	}
	return g, err
}

// onceMore has somebody vote where a standing grant does not cover any more.
type onceMore struct{ verbatim.Store }

func (s *onceMore) Cover(ctx context.Context, id, grant string) (action.Action, error) {
	row, err := s.Store.Cover(ctx, id, grant)
	if !errors.Is(err, action.ErrStanding) {
		return row, err
	}
	return s.Vote(ctx, vote(row, row.Tenant+"_"+bob, true))
}

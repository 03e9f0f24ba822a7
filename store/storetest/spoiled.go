package storetest

import (
	"context"
	"errors"
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

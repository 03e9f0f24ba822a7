package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
)

// Two gateways that both live would otherwise have one call: the claim of the
// first would be free for the second while the first still works on it.
func TestClaimsOfSilentGatewaysAloneAreFree(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Start(t).Schema(t)
	s, other, left := openAt(t, dsn, nil), openAt(t, dsn, nil), openAt(t, dsn, nil)
	admin(t, s)
	mine, its := claimed(t, other, "mine", time.Hour), claimed(t, left, "its", time.Hour)
	must(t, left.Close())
	_, err := s.Expire(t.Context(), true)
	must(t, err)

	if _, err := s.Claim(t.Context(), mine.ID, time.Hour); !errors.Is(err, action.ErrState) {
		t.Errorf("the claim of a gateway that lives: %v", err)
	}
	if got := row(t, s, mine.ID); !got.LeaseUntil.Equal(mine.LeaseUntil) || got.CallerGone {
		t.Errorf("its lease is until %s, not %s; its caller gone %t", got.LeaseUntil, mine.LeaseUntil, got.CallerGone)
	}
	again, err := s.Claim(t.Context(), its.ID, time.Hour)
	must(t, err)
	if again.Fence <= its.Fence {
		t.Errorf("fence %d after %d", again.Fence, its.Fence)
	}
}

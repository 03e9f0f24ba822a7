package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/store/postgres"
)

// TestVerbThatWaitedGoesByTheTimeAfterTheWait: whoever held what a verb needs
// for so long that an approval ran out has not kept it alive.
func TestVerbThatWaitedGoesByTheTimeAfterTheWait(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	limits := []action.Limit{{Name: "calls", Window: action.Month, Scope: "s", Most: 10, Amount: 1}}
	begins := func(t *testing.T, s *postgres.Store) func() error {
		held := claimed(t, s, "one", lease)
		return func() error {
			_, err := s.Begin(t.Context(), action.Start{Action: held, Lease: lease, Limits: limits})
			return err
		}
	}
	for name, c := range map[string]struct {
		held string // what somebody else holds meanwhile
		verb func(*testing.T, *postgres.Store) func() error
	}{
		"a start, for the action":   {"SELECT 1 FROM action WHERE id = 'one' FOR UPDATE", begins},
		"a start, for a voter":      {"SELECT 1 FROM account FOR UPDATE", begins},
		"a start, for a stop":       {"LOCK TABLE stop IN EXCLUSIVE MODE", begins},
		"a start, for rules":        {"LOCK TABLE policy_epoch IN EXCLUSIVE MODE", begins},
		"a start, for its limits":   {"SELECT 1 FROM budget FOR UPDATE", begins},
		"a claim, for the action":   {"SELECT 1 FROM action WHERE id = 'one' FOR UPDATE", claims},
		"a vote, for the action":    {"SELECT 1 FROM action WHERE id = 'one' FOR UPDATE", votes},
		"sent again, for a voter":   {"SELECT 1 FROM account FOR UPDATE", resends},
		"sent again, for its rules": {"LOCK TABLE policy_epoch IN EXCLUSIVE MODE", resends},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := server.Schema(t)
			s := openAt(t, dsn, nil)
			admin(t, s)
			other := begin(t, s, "other") // its window is there already
			_, err := s.Finish(t.Context(), success(other))
			must(t, err)
			limited := start(t, s, "limited")
			limited.Limits = limits
			_, err = s.Begin(t.Context(), limited)
			must(t, err)
			verb := c.verb(t, s)

			letGo := hold(t, dsn, c.held)
			told := make(chan error, 1)
			go func() { told <- verb() }()
			waitFor(t, dsn, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'verbatim'")
			must(t, sql(t.Context(), dsn, "UPDATE time_floor SET at = at + 7200::bigint * 1000000000")) // two hours go by
			letGo()
			if err := <-told; !errors.Is(err, action.ErrLate) {
				t.Errorf("told %v", err)
			}
			if got := row(t, s, "one"); got.State == action.Executing {
				t.Error("it runs")
			}
		})
	}
}

func claims(t *testing.T, s *postgres.Store) func() error {
	claimed(t, s, "one", time.Nanosecond)
	return func() error { _, err := s.Claim(t.Context(), "one", lease); return err }
}

func votes(t *testing.T, s *postgres.Store) func() error {
	a, err := s.Suspend(t.Context(), asking(t, s, "one"))
	must(t, err)
	return func() error {
		_, err := s.Vote(t.Context(), action.Vote{ActionID: "one", Voter: "acc_ann", Approve: true, Digest: a.Terms.Digest, Nonce: "v",
			Method: action.MethodPassword, Envelope: []byte("signed"), LoginAt: a.UpdatedAt})
		return err
	}
}

func resends(t *testing.T, s *postgres.Store) func() error {
	run, err := s.Begin(t.Context(), action.Start{Action: claimed(t, s, "one", lease), Lease: lease})
	must(t, err)
	run, err = s.Finish(t.Context(), action.Ending{ID: "one", Fence: run.Fence, State: action.Uncertain, Result: action.Result{Code: "outcome_uncertain"}})
	must(t, err)
	return func() error {
		_, err := s.Begin(t.Context(), action.Start{Action: run, Lease: lease, Resend: &action.Resend{Retention: 24 * time.Hour}})
		return err
	}
}

// hold runs a statement and keeps what it locks until it is told to let go.
func hold(t *testing.T, dsn, text string) (letGo func()) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	db, err := pgx.Connect(ctx, dsn)
	must(t, err)
	t.Cleanup(func() { _ = db.Close(ctx) })
	for _, s := range []string{"BEGIN", text} {
		_, err = db.Exec(ctx, s)
		must(t, err)
	}
	return func() {
		t.Helper()
		_, err := db.Exec(ctx, "ROLLBACK")
		must(t, err)
	}
}

package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/store/postgres"
)

// TestAGatewaysRoleDestroysKeysOnlyForWhatTheOwnerHasForgotten: it may not
// erase, and so must not let go of a key that a payload still needs.
func TestAGatewaysRoleDestroysKeysOnlyForWhatTheOwnerHasForgotten(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	server.Exec(t, "CREATE ROLE keeper LOGIN")
	_, _, err := postgres.Migrate(t.Context(), dsn, "keeper")
	must(t, err)
	now := time.Now().Add(24 * time.Hour)
	clock := func() time.Time { return now }
	gateway := openAt(t, strings.Replace(dsn, "user=postgres", "user=keeper", 1), func(o *postgres.Options) { o.Now = clock })
	run, err := gateway.Begin(t.Context(), start(t, gateway, "old"))
	must(t, err)
	_, err = gateway.Finish(t.Context(), success(run))
	must(t, err)
	now = now.Add(3 * 24 * time.Hour)
	keep := action.Retention{action.ClassMutation: 24 * time.Hour}
	before, err := gateway.ForgetPayloads(t.Context(), keep)
	must(t, err)
	if before.Actions != 0 || before.Before[action.ClassMutation].After(time.Unix(0, 0)) || before.Old {
		t.Errorf("before the owner: %+v", before)
	}
	if row, err := gateway.Action(t.Context(), "acme", run.ID); err != nil || row.Payload.Args == "" {
		t.Errorf("%+v, %v", row, err)
	}
	owned, err := openAt(t, dsn, func(o *postgres.Options) { o.Now = clock }).ForgetPayloads(t.Context(), keep)
	must(t, err)
	after, err := gateway.ForgetPayloads(t.Context(), keep)
	must(t, err)
	if owned.Actions != 1 || !after.Before[action.ClassMutation].Equal(owned.Before[action.ClassMutation]) || after.Actions != 0 {
		t.Errorf("the owner: %+v, then the gateway: %+v", owned, after)
	}
}

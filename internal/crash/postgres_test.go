package crash_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/postgres"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// openPostgres opens the shared store as one more gateway.
func openPostgres(tb testing.TB, r run, now func() time.Time) verbatim.Store {
	tb.Helper()
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{9}, 32))
	if err != nil {
		tb.Fatal(err)
	}
	s, err := postgres.Open(context.Background(), postgres.Options{DSN: r.Postgres, Sealer: sealer, Connections: 4, Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// shared is a fresh shared store with the people of a fixture.
func shared(t *testing.T, server *pgtest.Server) string {
	t.Helper()
	dsn := server.Schema(t)
	s := openPostgres(t, run{Postgres: dsn}, func() time.Time { return verbatimtest.Start })
	book, ok := s.(interface {
		AddAccount(context.Context, auth.Account) error
		Close() error
	})
	if !ok {
		t.Fatalf("the store keeps no accounts: %T", s)
	}
	for _, name := range []string{"ada", "bob"} {
		if err := book.AddAccount(t.Context(), auth.Account{ID: name, Name: name, Key: auth.FoldName(name), Tenant: tenant,
			Principal: name, Groups: []string{"admin"}, PasswordHash: "none", Active: true,
			CreatedAt: verbatimtest.Start, PasswordAt: verbatimtest.Start}); err != nil {
			t.Fatal(err)
		}
	}
	if err := book.Close(); err != nil {
		t.Fatal(err)
	}
	return dsn
}

// TestKilledGatewayAtEachPoint is the same on a store that gateways share.
func TestKilledGatewayAtEachPoint(t *testing.T) {
	t.Parallel()
	each := many(t, "VERBATIM_CRASHES_POSTGRES", 1)
	l := &tally{hits: map[string]int{}}
	server := pgtest.Start(t)
	killEach(t, l, each, func(int) run { return run{Dir: t.TempDir(), Postgres: shared(t, server)} })
	report(t, l, each)
}

package postgres_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/postgres"
	"github.com/seed-de4804fb/verbatim/store/storetest"
)

var (
	_ verbatim.Store = (*postgres.Store)(nil)
	_ auth.Book      = (*postgres.Store)(nil)
)

// fixedSealer is one whose key every test knows.
func fixedSealer(t testing.TB) *keys.Sealer {
	t.Helper()
	s, err := keys.NewSealer(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openAt(t testing.TB, dsn string, change func(*postgres.Options)) *postgres.Store {
	t.Helper()
	opt := postgres.Options{DSN: dsn, Sealer: fixedSealer(t), Connections: 8}
	if change != nil {
		change(&opt)
	}
	s, err := postgres.Open(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func TestStorePassesTheSuite(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	storetest.Run(t, func(t *testing.T, now func() time.Time) verbatim.Store {
		return openAt(t, server.Schema(t), func(o *postgres.Options) { o.Now = now })
	})
}

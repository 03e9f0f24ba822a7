package sqlite_test

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

const tool = "bank.pay"

// allowed is a call that policy allowed, with arguments made of its id.
func allowed(t testing.TB, s *sqlite.Store, id string) action.Action {
	t.Helper()
	a, err := newCall(t.Context(), s, id)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newCall(ctx context.Context, s *sqlite.Store, id string) (action.Action, error) {
	version, err := s.SetPolicy(ctx, "acme", tool, canon.Sum([]byte("rules")))
	if err != nil {
		return action.Action{}, err
	}
	args, err := snapshot.FreezeGo(map[string]any{"to": id})
	if err != nil {
		return action.Action{}, err
	}
	return action.Action{ID: id, Kind: action.KindCall, Tenant: "acme", Principal: "user:pat", Agent: "helper", Tool: tool,
		Mutation: true, Fingerprint: canon.Sum([]byte(id)), Hash: snapshot.Propose("helper", tool, args).Hash,
		Decision: action.Decision{Effect: "allow", Code: "ok", PolicyVersion: version},
		Payload:  action.Payload{Raw: []byte(args.Text()), Requested: args.Text(), Args: args.Text()}}, nil
}

func begin(t testing.TB, s *sqlite.Store, id string) action.Action {
	t.Helper()
	row, err := s.Begin(t.Context(), action.Start{Action: allowed(t, s, id), Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// beginLong is begin for a call whose payload does not stand in its row.
func beginLong(t testing.TB, s *sqlite.Store, id string) action.Action {
	t.Helper()
	a := allowed(t, s, id)
	a.Payload.Raw = append(a.Payload.Raw, bytes.Repeat([]byte(" "), 4<<10)...)
	row, err := s.Begin(t.Context(), action.Start{Action: a, Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// pending stores a row that waits for one vote of an admin.
func pending(t testing.TB, s *sqlite.Store, id string) action.Action {
	t.Helper()
	a := allowed(t, s, id)
	now, err := s.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a.Decision.Effect = "require_approval"
	a.Terms = &action.Terms{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}},
		PendingUntil: now.Add(time.Hour), TTL: time.Hour, Nonce: id, RequestedAt: now, ExpiresAt: now.Add(time.Hour),
		Digest: canon.Sum([]byte("approve " + id))}
	row, err := s.Suspend(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func admin(t testing.TB, s *sqlite.Store) {
	t.Helper()
	err := s.AddAccount(t.Context(), auth.Account{ID: "acc_ann", Name: "Ann", Key: "ann", Tenant: "acme", Groups: []string{"admin"},
		Active: true, CreatedAt: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
}

func newStore(t testing.TB) (*sqlite.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	return openAt(t, path, nil), path
}

// raw is a connection of somebody who has the file but not this program.
func raw(t testing.TB, path string) *sqlite3.Conn {
	t.Helper()
	db, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READWRITE)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.BusyTimeout(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func sql(t testing.TB, db *sqlite3.Conn, text string) {
	t.Helper()
	if err := db.Exec(text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

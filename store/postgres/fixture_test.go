package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/store/postgres"
)

const (
	tool  = "bank.pay"
	lease = time.Minute
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// allowed is a call that policy allowed, with arguments made of its id.
func allowed(t testing.TB, s *postgres.Store, id string) action.Action {
	t.Helper()
	version, err := s.SetPolicy(t.Context(), "acme", tool, canon.Sum([]byte("rules")))
	must(t, err)
	args, err := snapshot.FreezeGo(map[string]any{"to": id})
	must(t, err)
	return action.Action{ID: id, Kind: action.KindCall, Tenant: "acme", Principal: "user:pat", Agent: "helper", Tool: tool,
		Mutation: true, Fingerprint: canon.Sum([]byte(id)), Hash: snapshot.Propose("helper", tool, args).Hash,
		Decision: action.Decision{Effect: "allow", Code: "ok", PolicyVersion: version},
		Payload:  action.Payload{Raw: []byte(args.Text()), Requested: args.Text(), Args: args.Text()}}
}

func start(t testing.TB, s *postgres.Store, id string) action.Start {
	t.Helper()
	return action.Start{Action: allowed(t, s, id), Lease: time.Minute}
}

func begin(t testing.TB, s *postgres.Store, id string) action.Action {
	t.Helper()
	row, err := s.Begin(t.Context(), start(t, s, id))
	must(t, err)
	return row
}

func success(row action.Action) action.Ending {
	return action.Ending{ID: row.ID, Fence: row.Fence, State: action.Succeeded, Result: action.Result{Output: []byte("1"), Code: "ok"}}
}

func admin(t testing.TB, s *postgres.Store) {
	t.Helper()
	must(t, s.AddAccount(t.Context(), auth.Account{ID: "acc_ann", Name: "Ann", Key: "ann", Tenant: "acme", Groups: []string{"admin"},
		Active: true, CreatedAt: time.Unix(1, 0)}))
}

// asking is a call that an admin must approve.
func asking(t testing.TB, s *postgres.Store, id string) action.Action {
	t.Helper()
	a := allowed(t, s, id)
	now, err := s.Now(t.Context())
	must(t, err)
	a.HighImpact, a.Decision.Effect = true, "require_approval"
	a.Terms = &action.Terms{Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}},
		PendingUntil: now.Add(time.Hour), TTL: time.Hour, Nonce: id, RequestedAt: now, ExpiresAt: now.Add(time.Hour)}
	a.Terms.Digest = approval.Digest(a)
	return a
}

// claimed is a row that an admin approved and this store claimed.
func claimed(t testing.TB, s *postgres.Store, id string, lease time.Duration) action.Action {
	t.Helper()
	a := asking(t, s, id)
	row, err := s.Suspend(t.Context(), a)
	must(t, err)
	_, err = s.Vote(t.Context(), action.Vote{ActionID: id, Voter: "acc_ann", Approve: true, Digest: row.Terms.Digest, Nonce: "v" + id,
		Method: action.MethodPassword, Envelope: []byte("signed"), LoginAt: row.UpdatedAt})
	must(t, err)
	row, err = s.Claim(t.Context(), id, lease)
	must(t, err)
	return row
}

func row(t testing.TB, s *postgres.Store, id string) action.Action {
	t.Helper()
	a, err := s.Action(t.Context(), "acme", id)
	must(t, err)
	return a
}

// sql runs text as whoever the connection string names.
func sql(ctx context.Context, dsn, text string) error {
	db, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer db.Close(context.WithoutCancel(ctx))
	_, err = db.PgConn().Exec(ctx, text).ReadAll()
	return err
}

// number asks one question.
func number(t testing.TB, dsn, text string) int64 {
	t.Helper()
	db, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer db.Close(context.WithoutCancel(t.Context()))
	var n int64
	must(t, db.QueryRow(t.Context(), text).Scan(&n))
	return n
}

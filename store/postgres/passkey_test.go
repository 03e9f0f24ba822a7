package postgres_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/postgres"
)

// signed is a vote of Ann in the envelope of a new passkey of hers.
func signed(t *testing.T, s *postgres.Store, row action.Action) action.Vote {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	p, err := keys.NewPasskey([]byte("phone"), &private.PublicKey)
	must(t, err)
	must(t, s.AddCredential(t.Context(), auth.Credential{ID: p.CredentialID(), AccountID: "acc_ann", PublicKey: p.SPKI(), RPID: "localhost",
		Name: "phone", CreatedAt: time.Unix(1, 0), Statement: []byte("{}")}))
	v := action.Vote{ActionID: row.ID, Voter: "acc_ann", Approve: true, Digest: row.Terms.Digest, Nonce: "v", Method: action.MethodPasskey}
	v.Envelope = keys.SignedByPasskey(approval.PayloadType, approval.VotePayload(v), p, keys.Assertion{}).JSON()
	return v
}

// TestStartWaitsForWhoeverRemovesAPasskey: the removal is on its way when the
// start looks; nothing begins once it is answered.
func TestStartWaitsForWhoeverRemovesAPasskey(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Start(t).Schema(t)
	s := openAt(t, dsn, nil)
	admin(t, s)
	row, err := s.Suspend(t.Context(), asking(t, s, "one"))
	must(t, err)
	_, err = s.Vote(t.Context(), signed(t, s, row))
	must(t, err)
	held, err := s.Claim(t.Context(), "one", lease)
	must(t, err)

	db, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer db.Close(t.Context())
	removal, err := db.Begin(t.Context())
	must(t, err)
	_, err = removal.Exec(t.Context(), "UPDATE credential SET revoked_at = 2")
	must(t, err)
	told := make(chan error, 1)
	go func() { _, err := s.Begin(t.Context(), action.Start{Action: held, Lease: lease}); told <- err }()
	for waits := int64(0); waits == 0; {
		select {
		case err := <-told:
			t.Fatalf("it did not wait: %v", err)
		default:
			waits = number(t, dsn, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'verbatim'")
		}
	}
	must(t, removal.Commit(t.Context()))
	if err := <-told; !errors.Is(err, action.ErrIneligible) {
		t.Errorf("told %v", err)
	}
}

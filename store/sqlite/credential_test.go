package sqlite_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
)

func passkeyOf(a auth.Account, id string) auth.Credential {
	return auth.Credential{ID: []byte(id), AccountID: a.ID, PublicKey: []byte("key"), RPID: "localhost", Count: 3, Name: "laptop",
		CreatedAt: a.CreatedAt, Statement: []byte("{}")}
}

func TestPasskeysReadBackEqualAndAreNeverReused(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	a, b := account("ann"), account("bob")
	must(t, s.AddAccount(t.Context(), a))
	must(t, s.AddAccount(t.Context(), b))
	want := passkeyOf(a, "one")
	must(t, s.AddCredential(t.Context(), want))
	byID, err := s.CredentialByID(t.Context(), want.ID)
	must(t, err)
	list, err := s.Credentials(t.Context(), a.ID)
	must(t, err)
	all, err := s.AllCredentials(t.Context())
	must(t, err)
	for _, got := range append(append(list, all...), byID) {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if err := s.AddCredential(t.Context(), passkeyOf(b, "one")); !errors.Is(err, auth.ErrCredentialTaken) {
		t.Errorf("the same passkey for somebody else: %v", err)
	}
	must(t, s.Disable(t.Context(), b.ID))
	if err := s.AddCredential(t.Context(), passkeyOf(b, "two")); !errors.Is(err, auth.ErrNoAccount) {
		t.Errorf("a passkey of a closed account: %v", err)
	}
	must(t, s.Disable(t.Context(), a.ID))
	if all, err := s.AllCredentials(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%d passkeys of closed accounts, %v", len(all), err)
	}
}

func TestCountOfAPasskeyOnlyGoesUp(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	a := account("ann")
	must(t, s.AddAccount(t.Context(), a))
	must(t, s.AddCredential(t.Context(), passkeyOf(a, "counts")))
	never := passkeyOf(a, "never")
	never.Count = 0
	must(t, s.AddCredential(t.Context(), never))
	at := a.CreatedAt.Add(time.Hour)
	for _, use := range []struct {
		id    string
		count uint32
		want  error
	}{
		{"counts", 3, auth.ErrCloned}, {"counts", 0, auth.ErrCloned}, {"counts", 4, nil}, {"counts", 4, auth.ErrCloned}, {"counts", 1<<32 - 1, nil},
		{"never", 0, nil}, {"never", 0, nil}, {"never", 1, nil}, {"never", 0, auth.ErrCloned}, {"other", 9, auth.ErrNoCredential},
	} {
		if err := s.UseCredential(t.Context(), []byte(use.id), use.count, at); !errors.Is(err, use.want) {
			t.Errorf("%s used with %d: %v; want %v", use.id, use.count, err, use.want)
		}
	}
	must(t, s.RemoveCredential(t.Context(), []byte("counts"), at))
	if err := s.UseCredential(t.Context(), []byte("counts"), 1<<32-1, at); !errors.Is(err, auth.ErrNoCredential) {
		t.Errorf("a removed passkey: %v", err)
	}
	if err := s.RemoveCredential(t.Context(), []byte("counts"), at); !errors.Is(err, auth.ErrNoCredential) {
		t.Errorf("removed twice: %v", err)
	}
	records, err := s.Records(t.Context(), audit.Filter{Tenant: "acme"})
	must(t, err)
	var events []string
	for _, r := range records {
		events = append(events, r.Event)
	}
	want := []string{audit.PasskeyRemoved, audit.PasskeyAdded, audit.PasskeyAdded, audit.AccountAdded}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Error(diff)
	}
}

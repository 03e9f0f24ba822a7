package sqlite_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
)

func account(id string) auth.Account {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	return auth.Account{ID: "acc_" + id, Name: id, Key: id, Tenant: "acme", Principal: "user:" + id, Groups: []string{"admin", "finance"},
		PasswordHash: "$argon2id$secret", Active: true, CreatedAt: at, PasswordAt: at}
}

func login(name string, a auth.Account) auth.Login {
	return auth.Login{Token: canon.Sum([]byte(name)), AccountID: a.ID, CreatedAt: a.CreatedAt, ExpiresAt: a.CreatedAt.Add(time.Hour),
		IdleUntil: a.CreatedAt.Add(time.Minute), Method: auth.MethodPassword}
}

func proof(a auth.Account) auth.Proof { return auth.Proof{PasswordHash: a.PasswordHash} }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAccountsReadBackEqual(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	want := account("ann")
	must(t, s.AddAccount(t.Context(), want))
	byName, err := s.AccountByName(t.Context(), want.Key)
	must(t, err)
	byID, err := s.AccountByID(t.Context(), want.ID)
	must(t, err)
	list, err := s.ListAccounts(t.Context(), want.Tenant)
	must(t, err)
	for _, got := range append(list, byName, byID) {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := s.AccountByName(t.Context(), "Ann"); !errors.Is(err, auth.ErrNoAccount) {
		t.Errorf("names are not compared as bytes: %v", err)
	}
	if list, err := s.ListAccounts(t.Context(), "rival"); err != nil || len(list) != 0 {
		t.Errorf("another tenant sees %v, %v", list, err)
	}
}

func TestANameIsTakenForEver(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	first := account("ann")
	must(t, s.AddAccount(t.Context(), first))
	must(t, s.Disable(t.Context(), first.ID))
	second := account("ann")
	second.ID, second.Tenant = "acc_other", "rival"
	if err := s.AddAccount(t.Context(), second); !errors.Is(err, auth.ErrNameTaken) {
		t.Fatalf("error %v, want ErrNameTaken", err)
	}
	if n, err := s.CountAccounts(t.Context()); err != nil || n != 0 {
		t.Fatalf("%d active accounts, %v", n, err)
	}
}

func TestDisablingAndANewPasswordEndLogins(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	a := account("ann")
	must(t, s.AddAccount(t.Context(), a))
	for _, end := range []func() error{
		func() error { return s.SetPassword(t.Context(), a.ID, "$argon2id$new", a.CreatedAt.Add(time.Hour)) },
		func() error { return s.Disable(t.Context(), a.ID) },
	} {
		a, err := s.AccountByID(t.Context(), a.ID)
		must(t, err)
		l := login("cookie", a)
		must(t, s.AddLogin(t.Context(), l, proof(a)))
		must(t, s.TouchLogin(t.Context(), l.Token, l.IdleUntil.Add(time.Minute)))
		got, err := s.Login(t.Context(), l.Token)
		must(t, err)
		l.IdleUntil = l.IdleUntil.Add(time.Minute)
		if diff := cmp.Diff(l, got); diff != "" {
			t.Fatal(diff)
		}
		must(t, end())
		if _, err := s.Login(t.Context(), l.Token); !errors.Is(err, auth.ErrNoLogin) {
			t.Fatalf("the login goes on: %v", err)
		}
	}
	got, err := s.AccountByID(t.Context(), a.ID)
	must(t, err)
	if got.Active || got.PasswordHash != "$argon2id$new" || !got.PasswordAt.Equal(a.CreatedAt.Add(time.Hour)) {
		t.Fatalf("%+v", got)
	}
	if err := s.AddLogin(t.Context(), login("late", a), proof(a)); !errors.Is(err, auth.ErrNoAccount) {
		t.Fatalf("a disabled account logged in: %v", err)
	}
}

func TestUnknownAccountsAreSaid(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	for name, err := range map[string]error{
		"SetPassword": s.SetPassword(t.Context(), "acc_none", "x", time.Unix(1, 0)),
		"Disable":     s.Disable(t.Context(), "acc_none"),
		"AddLogin":    s.AddLogin(t.Context(), login("x", account("none")), proof(account("none"))),
	} {
		if !errors.Is(err, auth.ErrNoAccount) {
			t.Errorf("%s: %v, want ErrNoAccount", name, err)
		}
	}
	must(t, s.EndLogin(t.Context(), canon.Sum([]byte("none"))))
	must(t, s.TouchLogin(t.Context(), canon.Sum([]byte("none")), time.Unix(1, 0)))
}

func TestExpiredLoginsAreForgotten(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	a := account("ann")
	must(t, s.AddAccount(t.Context(), a))
	old, fresh := login("old", a), login("fresh", a)
	fresh.CreatedAt = old.ExpiresAt.Add(time.Second)
	must(t, s.AddLogin(t.Context(), old, proof(a)))
	must(t, s.AddLogin(t.Context(), fresh, proof(a)))
	if _, err := s.Login(t.Context(), old.Token); !errors.Is(err, auth.ErrNoLogin) {
		t.Fatalf("old login: %v", err)
	}
	must(t, s.EndLogin(t.Context(), fresh.Token))
	if _, err := s.Login(t.Context(), fresh.Token); !errors.Is(err, auth.ErrNoLogin) {
		t.Fatalf("ended login: %v", err)
	}
}

func TestAccountsAreInTheLogWithoutSecrets(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	a := account("ann")
	must(t, s.AddAccount(t.Context(), a))
	must(t, s.SetPassword(t.Context(), a.ID, "$argon2id$new", a.CreatedAt))
	must(t, s.Disable(t.Context(), a.ID))
	records, err := s.Records(t.Context(), audit.Filter{Tenant: "acme"})
	must(t, err)
	want := []string{audit.AccountDisabled, audit.PasswordChanged, audit.AccountAdded}
	for i, r := range records {
		if r.Event != want[i] || r.Facts["account"] != a.ID {
			t.Errorf("record %+v, want %s", r, want[i])
		}
	}
	if len(records) != len(want) {
		t.Errorf("%d records, want %d", len(records), len(want))
	}
}

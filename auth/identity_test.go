package auth_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
)

func ada(change func(*auth.Identity)) auth.Identity {
	who := auth.Identity{Issuer: "https://id.example.com", Subject: "u-1", Names: []string{"Ada", "ada@example.com"}, Groups: []string{"finance"}, ProvedAt: start}
	if change != nil {
		change(&who)
	}
	return who
}

func TestAccountOfAProviderIsItsIssuerAndSubject(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	token, first, err := b.accounts.LoginFrom(ctx, "acme", ada(nil))
	if err != nil || first.Name != "Ada" || first.PasswordHash != "" || first.Principal != "" {
		t.Fatalf("%+v, %v", first, err)
	}
	if l, a, err := b.accounts.Session(ctx, token); err != nil || a.ID != first.ID || l.Method != auth.MethodOIDC || !l.Proved().Equal(start) {
		t.Errorf("%+v, %+v, %v", l, a, err)
	}
	_, again, err := b.accounts.LoginFrom(ctx, "acme", ada(func(i *auth.Identity) { i.Names, i.Groups = []string{"Somebody Else"}, []string{"admin", "finance"} }))
	if err != nil || again.ID != first.ID || again.Name != "Ada" || !slices.Equal(again.Groups, []string{"admin", "finance"}) {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	for name, c := range map[string]struct {
		who  auth.Identity
		want error
	}{
		"another subject of no group":   {ada(func(i *auth.Identity) { i.Subject, i.Groups = "u-2", nil }), auth.ErrStranger},
		"nobody":                        {ada(func(i *auth.Identity) { i.Subject = "" }), auth.ErrStranger},
		"another one whose name is had": {ada(func(i *auth.Identity) { i.Subject, i.Names = "u-3", []string{"A1ice", "b\u200bob", "ADA"} }), auth.ErrNoName},
	} {
		if _, _, err := b.accounts.LoginFrom(ctx, "acme", c.who); !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", name, err, c.want)
		}
	}
	_, other, err := b.accounts.LoginFrom(ctx, "acme", ada(func(i *auth.Identity) { i.Issuer = "https://other.example.com" }))
	if err != nil || other.ID == first.ID || other.Name != "ada@example.com" {
		t.Errorf("the same subject of another provider: %+v, %v", other, err)
	}
	if _, _, err := b.accounts.LoginFrom(ctx, "rival", ada(nil)); !errors.Is(err, auth.ErrShutOut) {
		t.Errorf("into another tenant: %v", err)
	}
	if err := b.accounts.Disable(ctx, first.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.accounts.LoginFrom(ctx, "acme", ada(nil)); !errors.Is(err, auth.ErrShutOut) {
		t.Errorf("who is shut out: %v", err)
	}
}

// The last operator stays one, and keeps nothing else that the provider has
// taken away.
func TestLastOperatorKeepsNoOtherGroup(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	login := func(subject string, groups ...string) auth.Account {
		t.Helper()
		_, a, err := b.accounts.LoginFrom(ctx, "acme", ada(func(i *auth.Identity) {
			i.Subject, i.Names, i.Groups = subject, []string{"Person " + subject}, groups
		}))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	login("one", "finance", "operator")
	for _, c := range []struct{ now, want []string }{
		{[]string{"finance"}, []string{"finance", "operator"}},
		{[]string{"kitchen"}, []string{"kitchen", "operator"}},
		{nil, []string{"operator"}},
		{nil, []string{"operator"}},
	} {
		got := login("one", c.now...)
		kept, err := b.accounts.ByID(ctx, got.ID)
		if err != nil || !slices.Equal(got.Groups, c.want) || !slices.Equal(kept.Groups, c.want) {
			t.Errorf("the provider says %v: in %v, kept %v, want %v, %v", c.now, got.Groups, kept.Groups, c.want, err)
		}
	}
	login("two", "operator")
	if got := login("one"); len(got.Groups) > 0 {
		t.Errorf("beside another operator: in %v", got.Groups)
	}
}

func TestLoginOfAProviderStandsForAVoteOnlyWhileItIsFresh(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	login := func(proved time.Time) (auth.Login, auth.Account) {
		t.Helper()
		token, _, err := b.accounts.LoginFrom(ctx, "acme", ada(func(i *auth.Identity) { i.ProvedAt = proved }))
		if err != nil {
			t.Fatal(err)
		}
		l, a, err := b.accounts.Session(ctx, token)
		if err != nil {
			t.Fatal(err)
		}
		return l, a
	}
	l, a := login(start.Add(-30 * time.Minute))
	v, err := b.accounts.SignVoteAfter(ctx, l, a, shown(true))
	if err != nil || !v.LoginAt.Equal(start.Add(-30*time.Minute)) || v.Method != auth.MethodOIDC {
		t.Fatalf("%+v, %v", v, err)
	}
	if err := b.accounts.VerifyVote(ctx, v); err != nil {
		t.Error(err)
	}
	if err := b.accounts.FreshFrom(l, a, auth.FreshLogin); !errors.Is(err, auth.ErrOldLogin) {
		t.Errorf("half an hour is fresh: %v", err)
	}
	for name, proved := range map[string]time.Time{"an hour ago": start.Add(-time.Hour - time.Second), "nobody says": {}} {
		l, a := login(proved)
		if _, err := b.accounts.SignVoteAfter(ctx, l, a, shown(true)); !errors.Is(err, auth.ErrOldLogin) {
			t.Errorf("%s: %v", name, err)
		}
	}
	mine := auth.Login{AccountID: b.alice.ID, Method: auth.MethodOIDC, CreatedAt: start}
	if _, err := b.accounts.SignVoteAfter(ctx, mine, b.alice, shown(true)); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("an account with a password: %v", err)
	}
	l, a = login(start)
	if _, err := b.accounts.SignVoteAfter(ctx, l, b.alice, shown(true)); !errors.Is(err, auth.ErrVoteShape) {
		t.Errorf("the login of somebody else: %v", err)
	}
	device, nonce := newAuthenticator(t), auth.NewNonce()
	n := auth.NewPasskey{Account: a, Name: "phone", Nonce: nonce, Created: device.Create(challengeOf(t, nonce)), Login: l}
	b.clock.Move(6 * time.Minute)
	if _, err := b.accounts.AddPasskey(ctx, siteOf(t, pageOrigin), n); !errors.Is(err, auth.ErrOldLogin) {
		t.Errorf("a passkey after an old login: %v", err)
	}
	b.clock.Move(-6 * time.Minute)
	if _, err := b.accounts.AddPasskey(ctx, siteOf(t, pageOrigin), n); err != nil {
		t.Error(err)
	}
	if _, err := b.accounts.SignVoteAfter(ctx, l, a, shown(true)); !errors.Is(err, auth.ErrPasskeyNeeded) {
		t.Errorf("beside a passkey: %v", err)
	}
}

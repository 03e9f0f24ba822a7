package auth_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/passkey"
)

func (b bench) person(t *testing.T, name string, groups ...string) auth.Account {
	t.Helper()
	a := auth.Account{ID: "person_" + strings.ToLower(name), Name: name, Key: auth.FoldName(name), Tenant: "acme",
		Groups: groups, PasswordHash: hash(), Active: true, CreatedAt: start}
	if err := b.book.AddAccount(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestInvitedPersonJoinsWithAPasskeyAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	code, i, err := b.accounts.Invite(t.Context(), b.alice, []string{"night", "finance", "night"}, 0)
	if err != nil || !i.ExpiresAt.Equal(start.Add(auth.InvitationLife)) {
		t.Fatalf("%+v, %v", i, err)
	}
	device, nonce, id := newAuthenticator(t), auth.NewNonce(), auth.NewAccountID()
	j := auth.Joining{Code: " " + strings.ToLower(code) + " ", ID: id, Name: "Bob", Nonce: nonce, Label: "phone", Created: device.Create(challengeOf(t, nonce))}
	a, err := b.accounts.Join(t.Context(), siteOf(t, pageOrigin), j)
	if err != nil {
		t.Fatal(err)
	}
	if a.Tenant != "acme" || strings.Join(a.Groups, " ") != "finance night" || a.PasswordHash != "" || a.Principal != "" {
		t.Errorf("%+v", a)
	}
	if have, err := b.accounts.Passkeys(t.Context(), a.ID); err != nil || len(have) != 1 {
		t.Errorf("%d passkeys, %v", len(have), err)
	}
	if _, err := b.accounts.Check(t.Context(), "Bob", ""); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("an account without a password and no password: %v", err)
	}
	if _, err := b.accounts.Check(t.Context(), "Bob", password); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("an account without a password: %v", err)
	}
	j.Name, j.ID = "Carl", auth.NewAccountID()
	if _, err := b.accounts.Join(t.Context(), siteOf(t, pageOrigin), j); !errors.Is(err, auth.ErrNoInvitation) {
		t.Errorf("the code was used twice: %v", err)
	}
}

func TestJoiningThatIsRefusedUsesNothingUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	code, i, err := b.accounts.Invite(t.Context(), b.alice, nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	nonce := auth.NewNonce()
	good := auth.Joining{Code: code, ID: auth.NewAccountID(), Name: "Bob", Nonce: nonce, Label: "phone", Created: newAuthenticator(t).Create(challengeOf(t, nonce))}
	for name, c := range map[string]struct {
		change func(*auth.Joining)
		want   error
	}{
		"another code":              {func(j *auth.Joining) { j.Code = "A" + code[1:] + "A" }, auth.ErrNoInvitation},
		"no code":                   {func(j *auth.Joining) { j.Code = "" }, auth.ErrNoInvitation},
		"the digest for the code":   {func(j *auth.Joining) { j.Code = i.Token.String() }, auth.ErrNoInvitation},
		"a name that is taken":      {func(j *auth.Joining) { j.Name = "A1ice" }, auth.ErrNameTaken},
		"a name that is none":       {func(j *auth.Joining) { j.Name = "b\u200bob" }, auth.ErrName},
		"nothing that proves":       {func(j *auth.Joining) { j.Created = passkey.Created{} }, auth.ErrNothingProves},
		"a weak password":           {func(j *auth.Joining) { j.Password = "short" }, auth.ErrPassword},
		"a passkey for another tab": {func(j *auth.Joining) { j.Nonce = auth.NewNonce() }, passkey.ErrRegistration},
		"a passkey without a name":  {func(j *auth.Joining) { j.Label = "" }, auth.ErrPasskeyName},
	} {
		j := good
		c.change(&j)
		if _, err := b.accounts.Join(t.Context(), siteOf(t, pageOrigin), j); !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", name, err, c.want)
		}
	}
	if _, err := b.accounts.Invited(t.Context(), code); err != nil {
		t.Errorf("the invitation is gone: %v", err)
	}
	b.clock.Move(time.Hour)
	if _, err := b.accounts.Join(t.Context(), siteOf(t, pageOrigin), good); !errors.Is(err, auth.ErrNoInvitation) {
		t.Errorf("after its time: %v", err)
	}
}

func TestOperatorsManageAndWithoutOneEverybodyDoes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bob := b.person(t, "Bob")
	if _, _, err := b.accounts.Invite(t.Context(), bob, []string{"admin"}, 0); err != nil {
		t.Errorf("nobody is an operator: %v", err)
	}
	if err := b.accounts.SetGroups(t.Context(), bob, bob.ID, []string{"operator"}); !errors.Is(err, auth.ErrOwnGroups) {
		t.Errorf("his own groups: %v", err)
	}
	olga := b.person(t, "Olga", "operator")
	_, _, inviting := b.accounts.Invite(t.Context(), bob, []string{"admin"}, 0)
	for what, err := range map[string]error{
		"inviting":    inviting,
		"groups":      b.accounts.SetGroups(t.Context(), bob, b.alice.ID, nil),
		"disabling":   b.accounts.SetActive(t.Context(), bob, b.alice.ID, false),
		"disabled by": b.accounts.SetActive(t.Context(), auth.Account{ID: "person_none", Tenant: "acme"}, b.alice.ID, false),
	} {
		if !errors.Is(err, auth.ErrNotManager) {
			t.Errorf("%s beside an operator: %v", what, err)
		}
	}
	stranger := olga
	stranger.Tenant = "rival"
	if err := b.accounts.SetActive(t.Context(), stranger, b.alice.ID, false); err == nil {
		t.Error("an account of another tenant was disabled")
	}
	if err := b.accounts.SetActive(t.Context(), olga, olga.ID, false); !errors.Is(err, auth.ErrLast) {
		t.Errorf("the last operator: %v", err)
	}
	for _, groups := range [][]string{{""}, {"a\nb"}, {strings.Repeat("g", 101)}, {"a\u202eb"}} {
		if err := b.accounts.SetGroups(t.Context(), olga, bob.ID, groups); !errors.Is(err, auth.ErrGroup) {
			t.Errorf("groups %q: %v", groups, err)
		}
	}
	if err := b.accounts.SetGroups(t.Context(), olga, bob.ID, []string{"finance", "finance"}); err != nil {
		t.Error(err)
	}
	if got, err := b.accounts.ByID(t.Context(), bob.ID); err != nil || strings.Join(got.Groups, " ") != "finance" {
		t.Errorf("%v, %v", got.Groups, err)
	}
}

func TestInvitationIsWithdrawnByItsMakerOrAManager(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bob := b.person(t, "Bob")
	var open []auth.Invitation
	for _, by := range []auth.Account{b.alice, bob, b.alice} {
		_, i, err := b.accounts.Invite(t.Context(), by, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, i)
	}
	olga := b.person(t, "Olga", "operator")
	if err := b.accounts.Withdraw(t.Context(), bob, open[0].Token); !errors.Is(err, auth.ErrNotManager) {
		t.Errorf("somebody else's: %v", err)
	}
	for i, by := range []auth.Account{b.alice, bob, olga} {
		if err := b.accounts.Withdraw(t.Context(), by, open[i].Token); err != nil {
			t.Errorf("%s: %v", by.Name, err)
		}
	}
	if left, err := b.accounts.Invitations(t.Context(), "acme"); err != nil || len(left) != 0 {
		t.Errorf("%d are left, %v", len(left), err)
	}
	if _, _, err := b.accounts.Invite(t.Context(), olga, nil, 8*24*time.Hour); !errors.Is(err, auth.ErrInvitationLife) {
		t.Errorf("for ever: %v", err)
	}
}

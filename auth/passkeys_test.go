package auth_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/authtest"
	"github.com/seed-de4804fb/verbatim/auth/passkey"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

const pageOrigin = "https://approve.example.com"

func siteOf(t *testing.T, origin string) passkey.Site {
	t.Helper()
	site, err := passkey.NewSite(origin)
	if err != nil {
		t.Fatal(err)
	}
	return site
}

func newAuthenticator(t *testing.T) *authtest.Authenticator {
	t.Helper()
	device, err := authtest.NewAuthenticator(pageOrigin)
	if err != nil {
		t.Fatal(err)
	}
	return device
}

func challengeOf(t *testing.T, nonce string) []byte {
	t.Helper()
	challenge, err := hex.DecodeString(nonce)
	if err != nil {
		t.Fatal(err)
	}
	return challenge
}

// withPasskey gives Alice a passkey.
func (b bench) withPasskey(t *testing.T) *authtest.Authenticator {
	t.Helper()
	device, nonce := newAuthenticator(t), auth.NewNonce()
	_, err := b.accounts.AddPasskey(t.Context(), siteOf(t, pageOrigin), auth.NewPasskey{Account: b.alice, Name: "laptop", Nonce: nonce,
		Created: device.Create(challengeOf(t, nonce)), Password: password})
	if err != nil {
		t.Fatal(err)
	}
	return device
}

func shown(approve bool) action.Vote {
	return action.Vote{ActionID: "act_1", Approve: approve, Digest: canon.Sum([]byte("what was shown")), Nonce: auth.NewNonce()}
}

func (b bench) signed(t *testing.T, device *authtest.Authenticator, v action.Vote) action.Vote {
	t.Helper()
	v.Voter = b.alice.ID
	out, err := b.accounts.SignVoteWith(t.Context(), siteOf(t, pageOrigin), b.alice, v, device.Assert(keys.Challenge(approval.VotePayload(v))))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestVoteByPasskeyVerifiesUntilThePasskeyIsRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	device := b.withPasskey(t)
	v := b.signed(t, device, shown(true))
	if v.Method != auth.MethodPasskey || v.Voter != b.alice.ID {
		t.Fatalf("vote = %+v", v)
	}
	if err := b.accounts.VerifyVote(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	nonce := auth.NewNonce()
	subject := base64.RawURLEncoding.EncodeToString(device.ID)
	by := device.Assert(auth.Challenge(auth.ToRemovePasskey, subject, nonce))
	if err := b.accounts.RemovePasskey(t.Context(), siteOf(t, pageOrigin), b.alice, device.ID, nonce, by); err != nil {
		t.Fatal(err)
	}
	if err := b.accounts.VerifyVote(t.Context(), v); !errors.Is(err, auth.ErrNoCredential) {
		t.Errorf("vote of a removed passkey: %v", err)
	}
	if left, err := b.accounts.Passkeys(t.Context(), b.alice.ID); err != nil || len(left) != 0 {
		t.Errorf("%d passkeys are left, %v", len(left), err)
	}
}

func TestAccountWithAPasskeyVotesWithThatOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.withPasskey(t)
	if _, err := b.accounts.SignVote(t.Context(), "Alice", password, shown(true)); !errors.Is(err, auth.ErrPasskeyNeeded) {
		t.Errorf("SignVote = %v; want ErrPasskeyNeeded", err)
	}
	if _, err := b.accounts.SignVote(t.Context(), "Alice", "wrong password", shown(true)); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("who does not know the password learns of the passkey: %v", err)
	}
}

func TestEveryChangedByteOfAnArtifactIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	byPassword, err := b.accounts.SignVote(t.Context(), "Alice", password, shown(true))
	if err != nil {
		t.Fatal(err)
	}
	commented := shown(true)
	commented.Reason = "checked"
	votes := map[string]action.Vote{"password": byPassword, "passkey": b.signed(t, b.withPasskey(t), commented)}
	for name, v := range votes {
		for i := range v.Envelope {
			for _, bit := range []byte{1, 2, 16, 32, 128} {
				changed := v
				changed.Envelope = bytes.Clone(v.Envelope)
				changed.Envelope[i] ^= bit
				if b.accounts.VerifyVote(t.Context(), changed) == nil {
					t.Fatalf("%s: byte %d of %d may be changed by %#x", name, i, len(v.Envelope), bit)
				}
			}
		}
	}
}

func TestRejectionNeverPassesAsAnApproval(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	device := b.withPasskey(t)
	no := shown(false)
	no.Reason = "paid last week"
	for _, v := range []action.Vote{b.signed(t, device, no)} {
		turned := v
		turned.Approve = true
		if err := b.accounts.VerifyVote(t.Context(), turned); !errors.Is(err, auth.ErrVoteSigned) {
			t.Errorf("a rejection as an approval: %v", err)
		}
		for what, change := range map[string]func(*action.Vote){
			"another digest": func(v *action.Vote) { v.Digest[0]++ },
			"another nonce":  func(v *action.Vote) { v.Nonce = auth.NewNonce() },
			"another voter":  func(v *action.Vote) { v.Voter = "person_bob" },
			"another reason": func(v *action.Vote) { v.Reason = "paid last weeK" },
			"no reason":      func(v *action.Vote) { v.Reason = "" },
			"as by password": func(v *action.Vote) { v.Method = auth.MethodPassword },
			"no method":      func(v *action.Vote) { v.Method = "" },
		} {
			changed := v
			if change(&changed); b.accounts.VerifyVote(t.Context(), changed) == nil {
				t.Errorf("%s is accepted", what)
			}
		}
	}
}

// TestWhoWritesTheDatabaseCannotVote: rows that the server did not sign, or
// signed for somebody else, vouch for nothing.
func TestWhoWritesTheDatabaseCannotVote(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	own := b.withPasskey(t)
	real, err := b.book.CredentialByID(t.Context(), own.ID)
	if err != nil {
		t.Fatal(err)
	}
	other, err := authtest.Accounts(b.book, b.clock.Now, 9)
	if err != nil {
		t.Fatal(err)
	}
	for what, statement := range map[string][]byte{"nothing": nil, "the statement of another passkey": real.Statement} {
		device := newAuthenticator(t)
		p, err := keys.NewPasskey(device.ID, &device.Key.PublicKey)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.book.AddCredential(t.Context(), auth.Credential{ID: device.ID, AccountID: b.alice.ID, PublicKey: p.SPKI(),
			RPID: "approve.example.com", Name: "evil", CreatedAt: start, Statement: statement}); err != nil {
			t.Fatal(err)
		}
		v := shown(true)
		v.Voter, v.Method = b.alice.ID, auth.MethodPasskey
		payload := approval.VotePayload(v)
		by := device.Assert(keys.Challenge(payload))
		v.Envelope = keys.SignedByPasskey(approval.PayloadType, payload, p, by.Assertion).JSON()
		if err := b.accounts.VerifyVote(t.Context(), v); !errors.Is(err, auth.ErrNoCredential) {
			t.Errorf("%s: VerifyVote = %v", what, err)
		}
		if _, err := b.accounts.SignVoteWith(t.Context(), siteOf(t, pageOrigin), b.alice, v, by); !errors.Is(err, auth.ErrNoCredential) {
			t.Errorf("%s: SignVoteWith = %v", what, err)
		}
	}
	v := b.signed(t, own, shown(true))
	if err := other.VerifyVote(t.Context(), v); !errors.Is(err, auth.ErrNoCredential) {
		t.Errorf("a server with other keys: %v", err)
	}
}

func TestAssertionsThatAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(d *authtest.Authenticator)
		want   error
	}{
		"another origin":        {func(d *authtest.Authenticator) { d.Origin = "https://approve.example.com.evil.example" }, keys.ErrAssertion},
		"another port":          {func(d *authtest.Authenticator) { d.Origin = "https://approve.example.com:8443" }, keys.ErrAssertion},
		"another scheme":        {func(d *authtest.Authenticator) { d.Origin = "http://approve.example.com" }, keys.ErrAssertion},
		"another RP ID":         {func(d *authtest.Authenticator) { d.RPID = "example.com" }, keys.ErrAssertion},
		"user not verified":     {func(d *authtest.Authenticator) { d.Flags = 1 }, keys.ErrAssertion},
		"user not present":      {func(d *authtest.Authenticator) { d.Flags = 4 }, keys.ErrAssertion},
		"backed up, never able": {func(d *authtest.Authenticator) { d.Flags = 5 | 0x10 }, keys.ErrAssertion},
		"attested data":         {func(d *authtest.Authenticator) { d.Flags = 5 | 0x40 }, keys.ErrAssertion},
		"a key of somebody":     {func(d *authtest.Authenticator) { d.Key = otherKey(t).Key }, keys.ErrAssertion},
		"an unknown passkey":    {func(d *authtest.Authenticator) { d.ID = []byte("unknown") }, auth.ErrNoCredential},
		"a count that is old":   {func(d *authtest.Authenticator) { d.Count = 0 }, auth.ErrCloned},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			device := b.withPasskey(t)
			test.change(device)
			v := shown(true)
			v.Voter = b.alice.ID
			_, err := b.accounts.SignVoteWith(t.Context(), siteOf(t, pageOrigin), b.alice, v, device.Assert(keys.Challenge(approval.VotePayload(v))))
			if !errors.Is(err, test.want) {
				t.Errorf("SignVoteWith = %v; want %v", err, test.want)
			}
		})
	}
}

func otherKey(t *testing.T) *authtest.Authenticator { return newAuthenticator(t) }

func TestOneAssertionIsForOnePurpose(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	device := b.withPasskey(t)
	v := shown(true)
	v.Voter = b.alice.ID
	no := v
	no.Approve = false
	for what, challenge := range map[string][]byte{
		"for a rejection":  keys.Challenge(approval.VotePayload(no)),
		"for signing in":   auth.Challenge(auth.ToSignIn, b.alice.ID, v.Nonce),
		"for a passkey":    auth.Challenge(auth.ToAddPasskey, b.alice.ID, v.Nonce),
		"for a bare nonce": challengeOf(t, v.Nonce),
	} {
		_, err := b.accounts.SignVoteWith(t.Context(), siteOf(t, pageOrigin), b.alice, v, device.Assert(challenge))
		if !errors.Is(err, keys.ErrAssertion) {
			t.Errorf("an assertion %s: %v", what, err)
		}
	}
}

func TestRegistrationsThatAreRefused(t *testing.T) {
	t.Parallel()
	type device = authtest.Authenticator
	keep := func(*device) {}
	tests := map[string]struct {
		device  func(d *device)
		request func(n *auth.NewPasskey)
		want    error
	}{
		"another origin":      {func(d *device) { d.Origin = "https://evil.example" }, nil, passkey.ErrRegistration},
		"another RP ID":       {func(d *device) { d.RPID = "evil.example" }, nil, passkey.ErrRegistration},
		"user not verified":   {func(d *device) { d.Flags = 1 }, nil, passkey.ErrRegistration},
		"another challenge":   {keep, func(n *auth.NewPasskey) { n.Nonce = auth.NewNonce() }, passkey.ErrRegistration},
		"a wrong password":    {keep, func(n *auth.NewPasskey) { n.Password = "wrong password" }, auth.ErrCredentials},
		"another account":     {keep, func(n *auth.NewPasskey) { n.Account.ID = "person_bob" }, auth.ErrCredentials},
		"a name unseen":       {keep, func(n *auth.NewPasskey) { n.Name = "lap\u202etop" }, auth.ErrPasskeyName},
		"no name":             {keep, func(n *auth.NewPasskey) { n.Name = " " }, auth.ErrPasskeyName},
		"an id of other keys": {keep, func(n *auth.NewPasskey) { n.Created.ID = []byte("x") }, passkey.ErrRegistration},
		"no CBOR":             {keep, func(n *auth.NewPasskey) { n.Created.Attestation = []byte{0xff} }, passkey.ErrRegistration},
		"names twice": {keep, func(n *auth.NewPasskey) {
			n.Created.ClientData = bytes.Replace(n.Created.ClientData, []byte("{"), []byte(`{"type":"webauthn.get",`), 1)
		}, passkey.ErrRegistration},
		"nothing": {keep, func(n *auth.NewPasskey) { n.Created = passkey.Created{} }, passkey.ErrRegistration},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			d, nonce := newAuthenticator(t), auth.NewNonce()
			test.device(d)
			n := auth.NewPasskey{Account: b.alice, Name: "laptop", Nonce: nonce, Password: password, Created: d.Create(challengeOf(t, nonce))}
			if test.request != nil {
				test.request(&n)
			}
			if _, err := b.accounts.AddPasskey(t.Context(), siteOf(t, pageOrigin), n); !errors.Is(err, test.want) {
				t.Errorf("AddPasskey = %v; want %v", err, test.want)
			}
			if have, err := b.accounts.Passkeys(t.Context(), b.alice.ID); err != nil || len(have) != 0 {
				t.Errorf("%d passkeys were kept, %v", len(have), err)
			}
		})
	}
}

func TestSecondPasskeyIsAuthorizedByTheFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.withPasskey(t)
	second, nonce := newAuthenticator(t), auth.NewNonce()
	n := auth.NewPasskey{Account: b.alice, Name: "phone", Nonce: nonce, Created: second.Create(challengeOf(t, nonce)), Password: password}
	site := siteOf(t, pageOrigin)
	if _, err := b.accounts.AddPasskey(t.Context(), site, n); err == nil {
		t.Fatal("the password adds a second passkey")
	}
	n.By = second.Assert(auth.Challenge(auth.ToAddPasskey, b.alice.ID, nonce))
	if _, err := b.accounts.AddPasskey(t.Context(), site, n); err == nil {
		t.Fatal("a passkey authorizes itself")
	}
	n.By = first.Assert(auth.Challenge(auth.ToAddPasskey, b.alice.ID, nonce))
	if _, err := b.accounts.AddPasskey(t.Context(), site, n); err != nil {
		t.Fatal(err)
	}
	b.signed(t, second, shown(true))
	n.By = first.Assert(auth.Challenge(auth.ToAddPasskey, b.alice.ID, nonce))
	if _, err := b.accounts.AddPasskey(t.Context(), site, n); !errors.Is(err, auth.ErrCredentialTaken) {
		t.Errorf("the same passkey again: %v", err)
	}
}

func TestPasskeysOfAnotherNameAreOrphans(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.withPasskey(t)
	for rpID, want := range map[string]int{"approve.example.com": 0, "localhost": 1} {
		if found, err := b.accounts.Orphans(t.Context(), rpID); err != nil || len(found) != want {
			t.Errorf("%s: %d orphans, %v; want %d", rpID, len(found), err, want)
		}
	}
}

func TestSitesThatCannotHavePasskeys(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"", "http://127.0.0.1:7433", "http://[::1]:7433", "https://192.0.2.1", "http://approve.example.com",
		"https://approve.example.com/", "https://u@approve.example.com", "ftp://localhost", "localhost"} {
		if _, err := passkey.NewSite(origin); !errors.Is(err, passkey.ErrSite) {
			t.Errorf("NewSite(%q) = %v", origin, err)
		}
	}
	if site := siteOf(t, "http://localhost:7433"); site.RPID() != "localhost" {
		t.Errorf("RP ID %q", site.RPID())
	}
}

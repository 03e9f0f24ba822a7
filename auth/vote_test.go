package auth_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/authtest"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

func ballot() action.Vote {
	return action.Vote{ActionID: "act-1", Approve: true, Digest: canon.Sum([]byte("terms"))}
}

func signed(t *testing.T, b bench) action.Vote {
	t.Helper()
	v, err := b.accounts.SignVote(t.Context(), "Alice", password, ballot())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVoteIsSignedForExactlyWhatTheVoterSaw(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := signed(t, b)
	want := ballot()
	want.Voter, want.Method, want.Nonce, want.Envelope = b.alice.ID, auth.MethodPassword, v.Nonce, v.Envelope
	want.LoginAt, want.Login = start, v.Login
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("vote (-want +got):\n%s", diff)
	}
	if len(v.Nonce) != 64 {
		t.Errorf("nonce has %d digits; want 32 bytes", len(v.Nonce))
	}
	if err := b.accounts.VerifyVote(t.Context(), v); err != nil {
		t.Errorf("VerifyVote = %v", err)
	}
	if again := signed(t, b); again.Nonce == v.Nonce {
		t.Error("two votes have one nonce")
	}
}

func TestVoteChangedAfterSigningIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	good := signed(t, b)
	for what, change := range map[string]func(*action.Vote){
		"answer":           func(v *action.Vote) { v.Approve = false },
		"voter":            func(v *action.Vote) { v.Voter = "person-mallory" },
		"no voter":         func(v *action.Vote) { v.Voter = "" },
		"digest":           func(v *action.Vote) { v.Digest = canon.Sum([]byte("other")) },
		"no digest":        func(v *action.Vote) { v.Digest = canon.Digest{} },
		"nonce":            func(v *action.Vote) { v.Nonce = strings.Repeat("0", 64) },
		"short nonce":      func(v *action.Vote) { v.Nonce = "00" },
		"uppercase nonce":  func(v *action.Vote) { v.Nonce = strings.ToUpper(v.Nonce) + "" },
		"method":           func(v *action.Vote) { v.Method = "passkey" },
		"no method":        func(v *action.Vote) { v.Method = "" },
		"no envelope":      func(v *action.Vote) { v.Envelope = nil },
		"spaced envelope":  func(v *action.Vote) { v.Envelope = append([]byte(" "), v.Envelope...) },
		"trailing data":    func(v *action.Vote) { v.Envelope = append(v.Envelope, '{', '}') },
		"flipped a bit":    func(v *action.Vote) { v.Envelope[20] ^= 1 },
		"another envelope": func(v *action.Vote) { v.Envelope = []byte(`{"payload":"","payloadType":"","signatures":[]}`) },
	} {
		v := good
		v.Envelope = append([]byte(nil), good.Envelope...)
		before := v.Nonce
		change(&v)
		if what == "uppercase nonce" && v.Nonce == before {
			continue // a nonce of digits only has no other case
		}
		if err := b.accounts.VerifyVote(t.Context(), v); err == nil {
			t.Errorf("%s: VerifyVote accepted", what)
		}
	}
}

func TestAReasonIsAPartOfWhatWasSigned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	why := ballot()
	why.Approve, why.Reason = false, "this was paid last week"
	v, err := b.accounts.SignVote(t.Context(), "Alice", password, why)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.accounts.VerifyVote(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"", "it is fine", v.Reason + " "} {
		changed := v
		changed.Reason = other
		if err := b.accounts.VerifyVote(t.Context(), changed); err == nil {
			t.Errorf("with the reason %q it verifies", other)
		}
	}
}

// A vote of before reasons were signed is as good as it was; nobody vouches
// for its reason.
func TestAnOlderVoteWithAReasonStillVerifies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := signed(t, b)
	if v.Reason != "" {
		t.Fatalf("the ballot has a reason: %q", v.Reason)
	}
	v.Reason = "kept beside what was signed"
	if err := b.accounts.VerifyVote(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	v.Approve = !v.Approve
	if err := b.accounts.VerifyVote(t.Context(), v); err == nil {
		t.Error("the other answer verifies")
	}
}

func TestVoteOfAnUnknownKeyOrPurposeIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := signed(t, b)
	other, err := authtest.Accounts(b.book, b.clock.Now, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.VerifyVote(t.Context(), v); !errors.Is(err, keys.ErrSignature) {
		t.Errorf("vote of another server's key: %v; want ErrSignature", err)
	}
	secret := make([]byte, 32)
	for i := range secret {
		secret[i] = 1
	}
	signer, err := keys.NewSigner(keys.Votes, secret)
	if err != nil {
		t.Fatal(err)
	}
	v.Envelope = signer.Sign("application/json", approval.VotePayload(v)).JSON()
	if err := b.accounts.VerifyVote(t.Context(), v); !errors.Is(err, keys.ErrPayloadType) {
		t.Errorf("vote signed as something else: %v; want ErrPayloadType", err)
	}
}

// A login is what an agent on the same machine could get hold of; it never
// makes a vote.
func TestVoteNeedsThePasswordEachTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	token := login(t, b)
	for what, secret := range map[string]string{"nothing": "", "login token": token, "wrong": "wrong password"} {
		b.clock.Move(2 * time.Hour)
		v, err := b.accounts.SignVote(t.Context(), "Alice", secret, ballot())
		if !errors.Is(err, auth.ErrCredentials) || v.Envelope != nil {
			t.Errorf("%s: SignVote = %v; want ErrCredentials and no envelope", what, err)
		}
	}
}

func TestVoteWithoutActionOrDigestIsNotSigned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for what, v := range map[string]action.Vote{
		"no action": {Digest: canon.Sum(nil)}, "no digest": {ActionID: "act-1"}, "nothing": {},
	} {
		if _, err := b.accounts.SignVote(t.Context(), "Alice", password, v); !errors.Is(err, auth.ErrVoteShape) {
			t.Errorf("%s: SignVote = %v; want ErrVoteShape", what, err)
		}
	}
}

func FuzzVerifyVoteNeverAcceptsAnEnvelopeItDidNotSign(f *testing.F) {
	book := &authtest.Book{}
	accounts, err := authtest.Accounts(book, nil, 1)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := accounts.Create(f.Context(), "Alice", password, "acme", "", nil); err != nil {
		f.Fatal(err)
	}
	v, err := accounts.SignVote(f.Context(), "Alice", password, ballot())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(v.Envelope)
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, envelope []byte) {
		forged := v
		forged.Envelope = envelope
		if err := accounts.VerifyVote(t.Context(), forged); err == nil && string(envelope) != string(v.Envelope) {
			t.Errorf("accepted %q", envelope)
		}
	})
}

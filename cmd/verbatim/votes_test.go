package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

func ballot(approve bool) action.Vote {
	return action.Vote{Voter: "acc_1", Approve: approve, Digest: canon.Digest(sha256.Sum256([]byte("approval"))), Nonce: "00ff"}
}

// signedByDevice signs a vote as an authenticator does.
func signedByDevice(t *testing.T, key *ecdsa.PrivateKey, v action.Vote) []byte {
	t.Helper()
	p, err := keys.NewPasskey([]byte("credential"), &key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	payload := approval.VotePayload(v)
	client := []byte(`{"type":"webauthn.get","challenge":"` + base64.RawURLEncoding.EncodeToString(keys.Challenge(payload)) +
		`","origin":"http://localhost:7433","crossOrigin":false}`)
	site, sum := sha256.Sum256([]byte("localhost")), sha256.Sum256(client)
	data := append(site[:], 0x05, 0, 0, 0, 0)
	digest := sha256.Sum256(append(bytes.Clone(data), sum[:]...))
	sig, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return append(keys.SignedByPasskey(approval.PayloadType, payload, p,
		keys.Assertion{AuthenticatorData: data, ClientData: client, Signature: sig}).JSON(), '\n')
}

func TestVotesVerifyWithoutTheDaemon(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	server, err := keys.NewSigner(keys.Votes, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	typedVote := func(v action.Vote) []byte {
		return append(server.Sign(approval.PayloadType, approval.VotePayload(v)).JSON(), '\n')
	}
	yes, password := signedByDevice(t, key, ballot(true)), typedVote(ballot(true))
	other := ballot(true)
	other.Voter, other.Digest = "acc_2", canon.Digest(sha256.Sum256([]byte("another")))
	pinned := []any{&key.PublicKey, server.Public()[0]}
	for name, c := range map[string]struct {
		text    []byte
		pinned  []any
		vote    string // empty: refused
		trusted bool
	}{
		"a passkey's approval":                     {yes, pinned, "approve", true},
		"a passkey's rejection stays one":          {signedByDevice(t, key, ballot(false)), pinned, "reject", true},
		"without a pinned key it is a claim":       {yes, nil, "approve", false},
		"another pinned key":                       {yes, []any{&stranger.PublicKey}, "", false},
		"a password's approval":                    {password, pinned, "approve", true},
		"a password's rejection stays one":         {typedVote(ballot(false)), pinned, "reject", true},
		"a password's vote without the server key": {password, nil, "", false},
		"one person twice":                         {append(bytes.Clone(yes), password...), pinned, "", false},
		"two digests in one file":                  {append(bytes.Clone(yes), typedVote(other)...), pinned, "", false},
		"another payload":                          {append(server.Sign(approval.PayloadType, []byte(`{"v":1}`)).JSON(), '\n'), pinned, "", false},
		"another payload type":                     {append(server.Sign("text/plain", approval.VotePayload(ballot(true))).JSON(), '\n'), pinned, "", false},
		"no line":                                  {nil, pinned, "", false},
		"no end of line":                           {bytes.TrimSpace(yes), pinned, "", false},
	} {
		votes, err := checkVotes(c.text, c.pinned)
		if (err == nil) != (c.vote != "") {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (votes[0].Vote != c.vote || votes[0].Trusted != c.trusted || votes[0].Digest != ballot(true).Digest.String()) {
			t.Errorf("%s: %+v", name, votes[0])
		}
	}
	for _, text := range [][]byte{yes, password} {
		for i := range text {
			changed := bytes.Clone(text)
			changed[i] ^= 1
			if votes, err := checkVotes(changed, pinned); err == nil {
				t.Fatalf("byte %d changed, and it verifies: %+v", i, votes)
			}
		}
	}
}

func TestASignedReasonIsShown(t *testing.T) {
	t.Parallel()
	server, err := keys.NewSigner(keys.Votes, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	v := ballot(false)
	v.Reason = "paid last week"
	line := append(server.Sign(approval.PayloadType, approval.VotePayload(v)).JSON(), '\n')
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pinned := []any{server.Public()[0], &key.PublicKey}
	yes := ballot(true)
	yes.Reason = "checked \"twice\"\n<by phone>"
	for _, c := range []struct {
		line []byte
		want action.Vote
	}{{line, v}, {signedByDevice(t, key, v), v}, {signedByDevice(t, key, yes), yes}} {
		votes, err := checkVotes(c.line, pinned)
		if err != nil || votes[0].Reason != c.want.Reason || (votes[0].Vote == "approve") != c.want.Approve {
			t.Fatalf("%+v, %v", votes, err)
		}
		for i := range c.line {
			changed := bytes.Clone(c.line)
			changed[i] ^= 1
			if votes, err := checkVotes(changed, pinned); err == nil {
				t.Fatalf("byte %d changed, and it verifies: %+v", i, votes)
			}
		}
	}
}

func TestAStandingGrantVerifiesWithoutTheDaemon(t *testing.T) {
	t.Parallel()
	server, err := keys.NewSigner(keys.Votes, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	grant := func(uses int) action.StandingGrant {
		g := action.StandingGrant{Tenant: "acme", Principal: "user:pat", Agent: "helper", Tool: "bank.pay", PolicyVersion: "p.1", Source: "act_1",
			Scope: action.Scope{AnyTarget: true, Members: []action.MemberRule{{Pointer: "/to", Rule: action.RuleEqual, Value: `"V1"`}}}, MaxUses: uses,
			Requirements: []action.Requirement{{AnyOf: []action.Group{{Name: "admin", Votes: 1}}}}, Nonce: "n", RequestedAt: at, ExpiresAt: at.Add(time.Hour)}
		g.Digest = approval.StandingDigest(g)
		g.ID = approval.StandingID(g.Digest)
		return g
	}
	signed := func(g action.StandingGrant, approve bool) []byte {
		v := action.Vote{Voter: "acc_1", Approve: approve, Digest: g.Digest, Nonce: "00ff"}
		return append(server.Sign(approval.PayloadType, approval.VotePayload(v)).JSON(), '\n')
	}
	pinned := []any{server.Public()[0]}
	file := func(g action.StandingGrant, votes []byte) []byte {
		return append(append(approval.StandingStatement(g), '\n'), votes...)
	}
	good := file(grant(3), signed(grant(3), true))
	got, votes, err := checkSigned(good, pinned)
	if err != nil || got == nil || got.ID != grant(3).ID || votes[0].Vote != "approve" || !votes[0].Trusted {
		t.Fatalf("%+v, %+v, %v", got, votes, err)
	}
	for i := range good {
		changed := bytes.Clone(good)
		changed[i] ^= 1
		if got, _, err := checkSigned(changed, pinned); err == nil {
			t.Fatalf("byte %d changed, and it verifies: %+v", i, got)
		}
	}
	for name, text := range map[string][]byte{
		"a wider statement over the same signatures": file(grant(1000), signed(grant(3), true)),
		"a statement that nobody signed":             append(approval.StandingStatement(grant(3)), '\n'),
		"a grant that no store would keep":           file(grant(0), signed(grant(0), true)),
	} {
		if _, _, err := checkSigned(text, pinned); err == nil {
			t.Errorf("%s verifies", name)
		}
	}
	if _, votes, err := checkSigned(file(grant(3), signed(grant(3), false)), pinned); err != nil || votes[0].Vote != "reject" {
		t.Errorf("a rejection of a grant: %+v, %v", votes, err)
	}
}

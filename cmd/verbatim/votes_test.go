package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"testing"

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

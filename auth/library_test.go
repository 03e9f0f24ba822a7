package auth_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/passkey"
	"github.com/seed-de4804fb/verbatim/keys"
)

// TestOurVerifierAgreesWithTheLibrary changes assertions at random places and
// asks both.
func TestOurVerifierAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	device, challenge := newAuthenticator(t), []byte("0123456789abcdef0123456789abcdef")
	created := device.Create(challenge)
	public, _, err := siteOf(t, pageOrigin).Register(challenge, created)
	if err != nil {
		t.Fatal(err)
	}
	cose := coseOf(t, created)
	good := device.Assert(challenge).Assertion
	agree := func(a keys.Assertion) {
		t.Helper()
		_, ours := public.Check(challenge, a)
		theirs := libraryChecks(device.ID, cose, challenge, a)
		if ours == nil && theirs != nil {
			t.Errorf("we accept what the library refuses: %v", theirs)
		}
	}
	if _, err := public.Check(challenge, good); err != nil || libraryChecks(device.ID, cose, challenge, good) != nil {
		t.Fatalf("the good one: %v, %v", err, libraryChecks(device.ID, cose, challenge, good))
	}
	for part := range 3 {
		for i := range 400 {
			a := keys.Assertion{AuthenticatorData: bytes.Clone(good.AuthenticatorData), ClientData: bytes.Clone(good.ClientData), Signature: bytes.Clone(good.Signature)}
			field := [][]byte{a.AuthenticatorData, a.ClientData, a.Signature}[part]
			field[i%len(field)] ^= byte(1 + i/len(field)*7)
			if _, err := public.Check(challenge, a); err == nil {
				t.Fatalf("part %d, byte %d may be changed", part, i%len(field))
			}
			agree(a)
		}
	}
	for flags := range 256 {
		device.Flags = byte(flags)
		agree(device.Assert(challenge).Assertion)
	}
}

func coseOf(t *testing.T, c passkey.Created) []byte {
	t.Helper()
	_, rest, found := bytes.Cut(c.Attestation, append(c.ID, 0xa5))
	if !found {
		t.Fatal("no key in the attestation")
	}
	return append([]byte{0xa5}, rest...)
}

func libraryChecks(id, cose, challenge []byte, a keys.Assertion) error {
	b64 := base64.RawURLEncoding.EncodeToString
	body, err := json.Marshal(map[string]any{"id": b64(id), "rawId": b64(id), "type": "public-key", "response": map[string]string{
		"authenticatorData": b64(a.AuthenticatorData), "clientDataJSON": b64(a.ClientData), "signature": b64(a.Signature)}})
	if err != nil {
		return err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(body)
	if err != nil {
		return err
	}
	return parsed.Verify(b64(challenge), "approve.example.com", "", []string{pageOrigin}, nil, nil,
		protocol.TopOriginExplicitVerificationMode, false, true, true, cose, protocol.SignaturePolicy{})
}

func TestBytesFromABrowserNeverPanic(t *testing.T) {
	t.Parallel()
	device, challenge := newAuthenticator(t), []byte("0123456789abcdef0123456789abcdef")
	good, site := device.Create(challenge), siteOf(t, pageOrigin)
	for i := range len(good.Attestation) {
		for _, bit := range []byte{1, 0x1f, 0x60, 0xff} {
			c := good
			c.Attestation = bytes.Clone(good.Attestation)
			c.Attestation[i] ^= bit
			_, _, _ = site.Register(challenge, c)
			c.Attestation = good.Attestation[:i]
			if _, _, err := site.Register(challenge, c); err == nil {
				t.Fatalf("an attestation cut after %d bytes is accepted", i)
			}
		}
	}
}

func TestChallengesDifferByPurposeSubjectAndNonce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, purpose := range []string{auth.ToAddPasskey, auth.ToRemovePasskey, auth.ToSignIn} {
		for _, subject := range []string{"", "a", strings.Repeat("a", 2)} {
			for _, nonce := range []string{"", "a"} {
				seen[fmt.Sprintf("%x", auth.Challenge(purpose, subject, nonce))] = true
			}
		}
	}
	if len(seen) != 18 {
		t.Errorf("%d challenges; want 18 that differ", len(seen))
	}
}

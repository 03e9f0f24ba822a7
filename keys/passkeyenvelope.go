package keys

import (
	"crypto/ed25519"
	"crypto/sha256"

	"github.com/seed-de4804fb/verbatim/canon"
)

// SignedByPasskey puts a payload and the assertion that signs it into an
// envelope. The challenge of the assertion was [Challenge] of the payload: an
// authenticator signs no bytes of our choice, so that the signature of the
// envelope is the whole assertion, written as RFC 8785 with the public key.
func SignedByPasskey(payloadType string, payload []byte, p Passkey, a Assertion) Envelope {
	sig := canon.ObjectValue(
		canon.Member{Name: "authenticatorData", Value: encoded(a.AuthenticatorData)},
		canon.Member{Name: "clientDataJSON", Value: encoded(a.ClientData)},
		canon.Member{Name: "credentialId", Value: encoded(p.CredentialID())},
		canon.Member{Name: "publicKey", Value: encoded(p.SPKI())},
		canon.Member{Name: "signature", Value: encoded(a.Signature)}).Canonical()
	return Envelope{payloadType: payloadType, payload: append([]byte(nil), payload...),
		signatures: []signature{{keyID: p.KeyID(), sig: sig}}}
}

// Challenge is what an authenticator is asked to sign for a payload.
func Challenge(payload []byte) []byte {
	sum := sha256.Sum256(payload)
	return sum[:]
}

// ClaimedPasskey returns the key that an envelope says it was signed with. It
// is a claim until VerifyPasskey has compared it with a key that is trusted.
func ClaimedPasskey(e Envelope) (Passkey, error) {
	p, _, err := readPasskeySignature(e)
	return p, err
}

// VerifyPasskey returns the payload of an envelope that one of the passkeys
// signed as payloadType, with what the assertion proves. The envelope must
// have that one signature and be its own canonical form, so that any byte that
// differs makes it fail. It fails with ErrEnvelope, ErrPayloadType,
// ErrSignature or ErrAssertion.
func VerifyPasskey(e Envelope, payloadType string, trusted ...Passkey) ([]byte, Proof, error) {
	if e.payloadType != payloadType {
		return nil, Proof{}, ErrPayloadType
	}
	claimed, assertion, err := readPasskeySignature(e)
	if err != nil {
		return nil, Proof{}, err
	}
	for _, p := range trusted {
		if !p.SameKey(claimed) || p.id != claimed.id {
			continue
		}
		proof, err := p.Check(Challenge(e.payload), assertion)
		if err != nil {
			return nil, Proof{}, err
		}
		return append([]byte(nil), e.payload...), proof, nil
	}
	return nil, Proof{}, ErrSignature
}

// readPasskeySignature reads the one signature of an envelope without
// trusting it.
func readPasskeySignature(e Envelope) (Passkey, Assertion, error) {
	if len(e.signatures) != 1 {
		return Passkey{}, Assertion{}, ErrEnvelope
	}
	s := e.signatures[0]
	v, err := canon.Decode(s.sig, canon.Options{MaxBytes: maxEnvelope, Exact: true, FoldTwins: true})
	if err != nil {
		return Passkey{}, Assertion{}, ErrEnvelope
	}
	names := []string{"authenticatorData", "clientDataJSON", "credentialId", "publicKey", "signature"}
	fields, err := texts(v, len(names), names...)
	if err != nil {
		return Passkey{}, Assertion{}, err
	}
	raw := make([][]byte, len(names))
	for i, field := range fields {
		if raw[i], err = decoded(field); err != nil {
			return Passkey{}, Assertion{}, err
		}
	}
	p, err := ParsePasskey(raw[2], raw[3])
	if err != nil {
		return Passkey{}, Assertion{}, err
	}
	a := Assertion{AuthenticatorData: raw[0], ClientData: raw[1], Signature: raw[4]}
	again := SignedByPasskey(e.payloadType, e.payload, p, a).signatures[0]
	if again.keyID != s.keyID || string(again.sig) != string(s.sig) {
		return Passkey{}, Assertion{}, ErrEnvelope
	}
	return p, a, nil
}

// IsPasskey reports whether an envelope has the form that VerifyPasskey reads.
func IsPasskey(e Envelope) bool {
	_, _, err := readPasskeySignature(e)
	return err == nil
}

// VerifyOnly is Verify for an envelope whose every byte counts: exactly one
// signature, named by the key that made it.
func VerifyOnly(e Envelope, payloadType string, trusted ...ed25519.PublicKey) ([]byte, ed25519.PublicKey, error) {
	payload, key, err := Verify(e, payloadType, trusted...)
	if err != nil {
		return nil, nil, err
	}
	if len(e.signatures) != 1 || e.signatures[0].keyID != KeyID(key) {
		return nil, nil, ErrEnvelope
	}
	return payload, key, nil
}

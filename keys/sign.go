package keys

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Purpose separates keys: a key of one purpose is never used for another.
type Purpose string

// The purposes that sign, and the one that seals.
const (
	Votes       Purpose = "vote"
	Receipts    Purpose = "receipt"
	Checkpoints Purpose = "checkpoint"
	Witnesses   Purpose = "witness"
	Warrants    Purpose = "warrant"
	Sealing     Purpose = "seal"
)

func (p Purpose) signs() bool {
	return p == Votes || p == Receipts || p == Checkpoints || p == Witnesses || p == Warrants
}

// Signer signs for one purpose and verifies what its older keys signed.
type Signer struct {
	purpose Purpose
	private []ed25519.PrivateKey // in the order of public
	public  []ed25519.PublicKey  // current first
	keyID   string               // of the current one
}

// NewSigner makes a signer of 32-byte Ed25519 seeds (RFC 8032 §5.1.5). The
// first signs; all verify.
func NewSigner(p Purpose, seeds ...[]byte) (*Signer, error) {
	if !p.signs() {
		return nil, fmt.Errorf("purpose %q does not sign", p)
	}
	if len(seeds) == 0 {
		return nil, errors.New("a signer needs a key")
	}
	s := &Signer{purpose: p}
	for _, seed := range seeds {
		if len(seed) != ed25519.SeedSize {
			return nil, fmt.Errorf("a signing key has %d bytes, not %d", ed25519.SeedSize, len(seed))
		}
		private := ed25519.NewKeyFromSeed(seed)
		s.private = append(s.private, private)
		s.public = append(s.public, private.Public().(ed25519.PublicKey))
	}
	s.keyID = KeyID(s.public[0])
	return s, nil
}

// Purpose says what the signer's keys may sign.
func (s *Signer) Purpose() Purpose { return s.purpose }

// Public returns the public keys, the current one first.
func (s *Signer) Public() []ed25519.PublicKey { return append([]ed25519.PublicKey(nil), s.public...) }

// KeyID names the key that signs now.
func (s *Signer) KeyID() string { return s.keyID }

// Sign puts payload into an envelope.
func (s *Signer) Sign(payloadType string, payload []byte) Envelope {
	return Envelope{
		payloadType: payloadType,
		payload:     append([]byte(nil), payload...),
		signatures:  []signature{{keyID: s.KeyID(), sig: ed25519.Sign(s.private[0], pae(payloadType, payload))}},
	}
}

// SignJSON is the JSON form of what Sign returns, made without copies of the
// payload.
func (s *Signer) SignJSON(payloadType string, payload []byte) []byte {
	// What is signed is shorter than what is returned, and stands in its place first.
	out := appendPAE(make([]byte, 0, room(payloadType, payload, 1)), payloadType, payload)
	sig := signature{keyID: s.keyID, sig: ed25519.Sign(s.private[0], out)}
	return appendEnvelope(out[:0], payloadType, payload, sig)
}

// SignBytes signs plain bytes with one of the keys, in the order of Public,
// for forms that have an envelope of their own such as a signed note. Only
// keys of checkpoints and of witnesses do.
func (s *Signer) SignBytes(key int, message []byte) ([]byte, error) {
	if s.purpose != Checkpoints && s.purpose != Witnesses {
		return nil, fmt.Errorf("a %s key signs envelopes only", s.purpose)
	}
	if key < 0 || key >= len(s.private) {
		return nil, errors.New("the signer has no such key")
	}
	return ed25519.Sign(s.private[key], message), nil
}

// Open verifies an envelope against the signer's own keys, as VerifyOnly
// does.
func (s *Signer) Open(e Envelope, payloadType string) ([]byte, error) {
	payload, _, err := VerifyOnly(e, payloadType, s.public...)
	return payload, err
}

// KeyID names a public key: the first 16 hex digits of its SHA-256.
func KeyID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

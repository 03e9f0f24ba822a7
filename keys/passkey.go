package keys

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
)

// The limits of a passkey. A credential id has at most 1023 bytes (WebAuthn
// Level 3 §4); an RSA key of fewer bits can be broken.
const (
	maxCredentialID = 1023
	minRSABits      = 2048
	maxSPKI         = 4096
)

// ErrPasskey is returned for a public key that no passkey here may have.
var ErrPasskey = errors.New("not the public key of a passkey")

// Passkey is the public half of an authenticator's key, with the id that its
// owner's devices know it by. The zero Passkey verifies nothing.
type Passkey struct {
	id   string // of the credential
	spki string // DER of SubjectPublicKeyInfo (RFC 5280 §4.1.2.7)
	key  any    // *ecdsa.PublicKey on P-256, ed25519.PublicKey or *rsa.PublicKey
}

// ParsePasskey reads a public key in the form of SubjectPublicKeyInfo: ECDSA
// on P-256, Ed25519, or RSA of 2048 bits and more. It fails with ErrPasskey.
func ParsePasskey(credentialID, spki []byte) (Passkey, error) {
	if len(credentialID) == 0 || len(credentialID) > maxCredentialID || len(spki) > maxSPKI {
		return Passkey{}, ErrPasskey
	}
	key, err := x509.ParsePKIXPublicKey(spki)
	if err != nil {
		return Passkey{}, ErrPasskey
	}
	return NewPasskey(credentialID, key)
}

// NewPasskey is ParsePasskey for a key that was read already.
func NewPasskey(credentialID []byte, key any) (Passkey, error) {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return Passkey{}, ErrPasskey
		}
	case ed25519.PublicKey:
		if len(k) != ed25519.PublicKeySize {
			return Passkey{}, ErrPasskey
		}
	case *rsa.PublicKey:
		if k.N.BitLen() < minRSABits {
			return Passkey{}, ErrPasskey
		}
	default:
		return Passkey{}, ErrPasskey
	}
	spki, err := x509.MarshalPKIXPublicKey(key)
	if err != nil || len(spki) > maxSPKI || len(credentialID) == 0 || len(credentialID) > maxCredentialID {
		return Passkey{}, ErrPasskey
	}
	return Passkey{id: string(credentialID), spki: string(spki), key: key}, nil
}

// CredentialID returns the id that the owner's devices know the key by.
func (p Passkey) CredentialID() []byte { return []byte(p.id) }

// SPKI returns the key as DER of SubjectPublicKeyInfo.
func (p Passkey) SPKI() []byte { return []byte(p.spki) }

// PEM returns the key as a PEM block that other tools read.
func (p Passkey) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: p.SPKI()})
}

// KeyID names the passkey: SHA-256 of the RFC 8785 form of its credential id
// and its key, so that neither can be exchanged under one name.
func (p Passkey) KeyID() string {
	if p.key == nil {
		return ""
	}
	sum := sha256.Sum256(canon.ObjectValue(
		canon.Member{Name: "credentialId", Value: encoded(p.CredentialID())},
		canon.Member{Name: "publicKey", Value: encoded(p.SPKI())}).Canonical())
	return hex.EncodeToString(sum[:])
}

// SameKey reports whether two passkeys have one public key.
func (p Passkey) SameKey(other Passkey) bool { return p.key != nil && p.spki == other.spki }

// holds checks a signature over a message (WebAuthn Level 3 §5.8.5).
func (p Passkey) holds(message, sig []byte) bool {
	sum := sha256.Sum256(message)
	switch k := p.key.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(k, sum[:], sig)
	case ed25519.PublicKey:
		return ed25519.Verify(k, message, sig)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], sig) == nil
	default:
		return false
	}
}

// ParsePublicPEM reads one public key from PEM: nothing before or behind the
// block, whose bytes are the DER of SubjectPublicKeyInfo.
func ParsePublicPEM(text []byte) (any, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "PUBLIC KEY" || len(bytes.TrimSpace(rest)) > 0 {
		return nil, fmt.Errorf("%w: expected one PEM block PUBLIC KEY", ErrPasskey)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: expected SubjectPublicKeyInfo", ErrPasskey)
	}
	return key, nil
}

// PublicPEM writes an Ed25519 public key as PEM.
func PublicPEM(key ed25519.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

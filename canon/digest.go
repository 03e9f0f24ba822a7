package canon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// Digest is a SHA-256 digest. Hashes with a meaning of their own have their
// own types over the same array.
type Digest [sha256.Size]byte

// Sum returns the SHA-256 digest of b.
func Sum(b []byte) Digest { return sha256.Sum256(b) }

// String returns the digest in lowercase hex.
func (d Digest) String() string {
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], d[:])
	return string(text[:])
}

// IsZero reports whether the digest was never set.
func (d Digest) IsZero() bool { return d == Digest{} }

// MarshalText writes lowercase hex.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads 64 lowercase hex digits; d is left alone on an error.
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := ParseDigest(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// ErrDigest is returned for text that is not 64 lowercase hex digits.
var ErrDigest = errors.New("digest is not 64 lowercase hex digits")

// ParseDigest reads 64 lowercase hex digits.
func ParseDigest(text string) (Digest, error) {
	var d Digest
	if len(text) != hex.EncodedLen(len(d)) {
		return Digest{}, ErrDigest
	}
	if _, err := hex.Decode(d[:], []byte(text)); err != nil || d.String() != text {
		return Digest{}, ErrDigest
	}
	return d, nil
}

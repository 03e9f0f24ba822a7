package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
)

// The sealed form is one version byte, the key id, the nonce and what
// AES-256-GCM gives (NIST SP 800-38D): 37 bytes more than the plain text.
const (
	sealVersion = 1
	keyIDSize   = 8
	nonceSize   = 12
	headerSize  = 1 + keyIDSize + nonceSize
	keySize     = 32
	maxTenants  = 1024 // data keys kept in memory; more are derived again
)

// ErrSealed is returned for bytes that do not open: changed, moved to another
// tenant, row or field, or sealed with a key that the ring no longer has.
var ErrSealed = errors.New("sealed bytes do not open")

// Place says what sealed bytes belong to. Bytes that are moved to another
// place do not open there.
type Place struct {
	Tenant string
	Row    string // id of the row; ids are never reused
	Field  string
}

// Sealer seals and opens payloads. Each tenant has a data key of its own,
// derived from the file key, and each row a key derived from that, so that
// random nonces stay unique. It is safe for concurrent use.
type Sealer struct {
	current *fileKey
	byID    map[[keyIDSize]byte]*fileKey
}

// fileKey is one key of the file with the tenants' data keys made from it.
type fileKey struct {
	id      [keyIDSize]byte
	secret  []byte
	mu      sync.Mutex
	tenants map[string][]byte // guarded by mu
}

// NewSealer makes a sealer of 32-byte keys. The first seals; all open.
func NewSealer(keys ...[]byte) (*Sealer, error) {
	if len(keys) == 0 {
		return nil, errors.New("a sealer needs a key")
	}
	s := &Sealer{byID: make(map[[keyIDSize]byte]*fileKey, len(keys))}
	for i, secret := range keys {
		k, err := newFileKey(secret)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			s.current = k
		}
		s.byID[k.id] = k
	}
	return s, nil
}

func newFileKey(secret []byte) (*fileKey, error) {
	if len(secret) != keySize {
		return nil, fmt.Errorf("a sealing key has %d bytes, not %d", keySize, len(secret))
	}
	id, err := hkdf.Key(sha256.New, secret, nil, "verbatim seal key id", keyIDSize)
	if err != nil {
		return nil, fmt.Errorf("derive key id: %w", err)
	}
	return &fileKey{id: [keyIDSize]byte(id), secret: append([]byte(nil), secret...), tenants: map[string][]byte{}}, nil
}

// KeyID names the key that seals now, in hex.
func (s *Sealer) KeyID() string { return hex.EncodeToString(s.current.id[:]) }

// Seal encrypts plain for one place.
func (s *Sealer) Seal(at Place, plain []byte) ([]byte, error) {
	out := make([]byte, headerSize, headerSize+len(plain)+16)
	out[0] = sealVersion
	copy(out[1:], s.current.id[:])
	if _, err := rand.Read(out[1+keyIDSize:]); err != nil {
		return nil, fmt.Errorf("read random nonce: %w", err)
	}
	gcm, err := s.current.cipher(at)
	if err != nil {
		return nil, err
	}
	return gcm.Seal(out, out[1+keyIDSize:headerSize], plain, bound(out, at)), nil
}

// Open decrypts what Seal made for the same place. It fails with ErrSealed.
func (s *Sealer) Open(at Place, sealed []byte) ([]byte, error) {
	if len(sealed) < headerSize || sealed[0] != sealVersion {
		return nil, fmt.Errorf("%w: unknown form", ErrSealed)
	}
	key, ok := s.byID[[keyIDSize]byte(sealed[1:])]
	if !ok {
		return nil, fmt.Errorf("%w: key %x is not in the ring", ErrSealed, sealed[1:1+keyIDSize])
	}
	gcm, err := key.cipher(at)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, sealed[1+keyIDSize:headerSize], sealed[headerSize:], bound(sealed, at))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}

// bound is the additional data: version, key id and the place, each text
// after its length.
func bound(sealed []byte, at Place) []byte {
	out := append(make([]byte, 0, 128), sealed[:1+keyIDSize]...)
	for _, s := range []string{at.Tenant, at.Row, at.Field} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(s)))
		out = append(out, s...)
	}
	return out
}

func (k *fileKey) cipher(at Place) (cipher.AEAD, error) {
	tenant, err := k.tenant(at.Tenant)
	if err != nil {
		return nil, err
	}
	row, err := hkdf.Key(sha256.New, tenant, nil, "verbatim row "+at.Row, keySize)
	if err != nil {
		return nil, fmt.Errorf("derive row key: %w", err)
	}
	block, err := aes.NewCipher(row)
	if err != nil {
		return nil, fmt.Errorf("row key: %w", err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("row key: %w", err)
	}
	return gcm, nil
}

func (k *fileKey) tenant(name string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key, ok := k.tenants[name]; ok {
		return key, nil
	}
	key, err := hkdf.Key(sha256.New, k.secret, nil, "verbatim tenant "+name, keySize)
	if err != nil {
		return nil, fmt.Errorf("derive tenant key: %w", err)
	}
	if len(k.tenants) < maxTenants {
		k.tenants[name] = key
	}
	return key, nil
}

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
)

// ErrSealed is returned for bytes that do not open: changed, moved to another
// tenant, row or field, or sealed with a key that the ring no longer has.
var ErrSealed = errors.New("sealed bytes do not open")

// ErrErased is the ErrSealed of a row whose key was destroyed.
var ErrErased = fmt.Errorf("%w: the key of the row was destroyed", ErrSealed)

// Place says what sealed bytes belong to. Bytes that are moved to another
// place do not open there.
type Place struct {
	Tenant string
	Row    string // id of the row; ids are never reused
	Field  string
}

// Sealer seals and opens payloads. Each tenant has a data key of its own, and
// each row a key that is derived from it, so that random nonces stay unique
// and the key of one row can be destroyed ([Ring.Erase]). It is safe for
// concurrent use.
type Sealer struct {
	mu      sync.RWMutex // held for writing while rows are erased
	current *fileKey
	byID    map[[keyIDSize]byte]*fileKey
}

// NewSealer makes a sealer of 32-byte keys. The first seals; all open.
func NewSealer(keys ...[]byte) (*Sealer, error) {
	list := make([]*fileKey, len(keys))
	for i, secret := range keys {
		k, err := newFileKey(secret)
		if err != nil {
			return nil, err
		}
		list[i] = k
	}
	return sealerOf(list)
}

func sealerOf(list []*fileKey) (*Sealer, error) {
	if len(list) == 0 {
		return nil, errors.New("a sealer needs a key")
	}
	s := &Sealer{current: list[0], byID: make(map[[keyIDSize]byte]*fileKey, len(list))}
	for _, k := range list {
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
	return &fileKey{id: [keyIDSize]byte(id), secret: append([]byte(nil), secret...), nodes: map[node]seed{{}: seed(secret)}}, nil
}

// KeyID names the key that seals now, in hex.
func (s *Sealer) KeyID() string { return hex.EncodeToString(s.sealing().id[:]) }

// sealing is the key that seals now.
func (s *Sealer) sealing() *fileKey {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.current
}

func (s *Sealer) named(id [keyIDSize]byte) (*fileKey, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	k, ok := s.byID[id]
	return k, ok
}

// Seal encrypts plain for one place.
func (s *Sealer) Seal(at Place, plain []byte) ([]byte, error) {
	box, err := s.Row(at.Tenant, at.Row)
	if err != nil {
		return nil, err
	}
	return box.Seal(at.Field, plain)
}

// Open decrypts what Seal made for the same place. It fails with ErrSealed.
func (s *Sealer) Open(at Place, sealed []byte) ([]byte, error) {
	box, err := s.Row(at.Tenant, at.Row)
	if err != nil {
		return nil, err
	}
	return box.Open(at.Field, sealed)
}

// Row seals and opens the fields of one row without deriving its key for
// each. One goroutine uses it.
func (s *Sealer) Row(tenant, row string) (*RowSealer, error) {
	current := s.sealing()
	gcm, err := current.cipher(tenant, row)
	if errors.Is(err, ErrErased) { // it seals nothing and opens nothing
		return &RowSealer{sealer: s, at: Place{Tenant: tenant, Row: row}}, nil
	}
	if err != nil {
		return nil, err
	}
	return &RowSealer{sealer: s, at: Place{Tenant: tenant, Row: row}, key: current, gcm: gcm}, nil
}

// RowSealer is a [Sealer] for the fields of one row.
type RowSealer struct {
	sealer *Sealer
	at     Place
	key    *fileKey // that gcm is of
	gcm    cipher.AEAD
}

// Seal encrypts plain for one field.
func (r *RowSealer) Seal(field string, plain []byte) ([]byte, error) {
	if err := r.use(r.sealer.sealing()); err != nil {
		return nil, err
	}
	r.at.Field = field
	out := make([]byte, headerSize, headerSize+len(plain)+r.gcm.Overhead())
	out[0] = sealVersion
	copy(out[1:], r.key.id[:])
	rand.Read(out[1+keyIDSize:]) // never fails (crypto/rand)
	return r.gcm.Seal(out, out[1+keyIDSize:headerSize], plain, bound(out, r.at)), nil
}

// Open decrypts what was sealed for the same field. It fails with ErrSealed.
func (r *RowSealer) Open(field string, sealed []byte) ([]byte, error) {
	if len(sealed) < headerSize || sealed[0] != sealVersion {
		return nil, fmt.Errorf("%w: unknown form", ErrSealed)
	}
	key, ok := r.sealer.named([keyIDSize]byte(sealed[1:]))
	if !ok {
		return nil, fmt.Errorf("%w: key %x is not in the ring", ErrSealed, sealed[1:1+keyIDSize])
	}
	if err := r.use(key); err != nil {
		return nil, err
	}
	r.at.Field = field
	plain, err := r.gcm.Open(nil, sealed[1+keyIDSize:headerSize], sealed[headerSize:], bound(sealed, r.at))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}

// use derives the row's key from another file key if it has to.
func (r *RowSealer) use(key *fileKey) error {
	if r.key == key {
		return nil
	}
	gcm, err := key.cipher(r.at.Tenant, r.at.Row)
	if err == nil {
		r.key, r.gcm = key, gcm
	}
	return err
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

// cipher derives the key of one row. It fails with ErrErased.
func (k *fileKey) cipher(tenant, row string) (cipher.AEAD, error) {
	leaf, ok := k.leaf(tenant, row)
	if !ok {
		return nil, ErrErased
	}
	secret, err := hkdf.Key(sha256.New, leaf[:], nil, "verbatim row "+row, keySize)
	if err != nil {
		return nil, fmt.Errorf("derive row key: %w", err)
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, fmt.Errorf("row key: %w", err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("row key: %w", err)
	}
	return gcm, nil
}

package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// The sealed form is one version byte, the key id, the shelf, the nonce and
// what AES-256-GCM gives (NIST SP 800-38D): 40 bytes more than the plain text.
// The form of before had another version and no shelf; it still opens.
const (
	oldVersion  = 1
	sealVersion = 2
	keyIDSize   = 8
	nonceSize   = 12
	shelfAt     = 1 + keyIDSize
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
	// Shelf is where it is sealed. What is sealed says so itself: to open
	// it, the shelf need not be known.
	Shelf Shelf
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
		if len(secret) != keySize {
			return nil, fmt.Errorf("a sealing key has %d bytes, not %d", keySize, len(secret))
		}
		k, err := newFileKey(secret, true)
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
	return s.Row(at.Tenant, at.Row, at.Shelf).Seal(at.Field, plain)
}

// Open decrypts what Seal made for the same place, on whatever shelf. It fails
// with ErrSealed.
func (s *Sealer) Open(at Place, sealed []byte) ([]byte, error) {
	return s.Row(at.Tenant, at.Row, at.Shelf).Open(at.Field, sealed)
}

// Row seals and opens the fields of one row without deriving its key for
// each. One goroutine uses it.
func (s *Sealer) Row(tenant, row string, on Shelf) *RowSealer {
	return &RowSealer{sealer: s, at: Place{Tenant: tenant, Row: row, Shelf: on}}
}

// RowSealer is a [Sealer] for the fields of one row.
type RowSealer struct {
	sealer *Sealer
	at     Place
	key    *fileKey // that gcm is of; nil at first
	on     where    // that gcm is of
	gcm    cipher.AEAD
	bound  []byte // room for it
}

// where is a shelf, or with old the time before there were any.
type where struct {
	shelf Shelf
	old   bool
}

// sealedAt is where the cipher text begins, and sealedMore how much longer than
// its plain text a sealed form is, in bytes.
const (
	sealedAt   = shelfAt + shelfSize + nonceSize
	sealedMore = sealedAt + 16 // GCM's tag
)

// SealedSize is how long the sealed form of a plain text is, in bytes.
func SealedSize(plain int) int { return plain + sealedMore }

// Seal encrypts plain for one field. It fails with ErrErased.
func (r *RowSealer) Seal(field string, plain []byte) ([]byte, error) {
	out, at, err := r.head(make([]byte, 0, SealedSize(len(plain))), field)
	if err != nil {
		return nil, err
	}
	return r.seal(append(out, plain...), at), nil
}

// AppendSeal appends to dst what [RowSealer.Seal] makes of a text.
func (r *RowSealer) AppendSeal(dst []byte, field, plain string) ([]byte, error) {
	out, at, err := r.head(dst, field)
	if err != nil {
		return dst, err
	}
	return r.seal(append(out, plain...), at), nil
}

// head appends what stands before the cipher text, which it binds, and says
// where that is.
func (r *RowSealer) head(out []byte, field string) (_ []byte, at int, err error) {
	if err := r.use(r.sealer.sealing(), where{shelf: r.at.Shelf}); err != nil {
		return nil, 0, err
	}
	r.at.Field = field
	var head [sealedAt]byte
	head[0] = sealVersion
	copy(head[1:], r.key.id[:])
	r.at.Shelf.put(head[shelfAt:])
	out = append(out, head[:]...)
	at = len(out)
	rand.Read(out[at-nonceSize:]) // never fails (crypto/rand)
	r.bound = appendBound(r.bound[:0], out[at-sealedAt:at-nonceSize], r.at)
	return out, at, nil
}

// seal encrypts, in its place, the plain text that stands behind the head.
func (r *RowSealer) seal(out []byte, at int) []byte {
	return r.gcm.Seal(out[:at], out[at-nonceSize:at], out[at:], r.bound)
}

// Open decrypts what was sealed for the same field. It fails with ErrSealed.
func (r *RowSealer) Open(field string, sealed []byte) ([]byte, error) {
	head, on := shelfAt+shelfSize, where{}
	if len(sealed) > 0 && sealed[0] == oldVersion {
		head, on.old = shelfAt, true
	}
	if len(sealed) < head+nonceSize || !on.old && sealed[0] != sealVersion {
		return nil, fmt.Errorf("%w: unknown form", ErrSealed)
	}
	if !on.old {
		on.shelf = shelfOf(sealed[shelfAt:])
	}
	key, ok := r.sealer.named([keyIDSize]byte(sealed[1:]))
	if !ok {
		return nil, fmt.Errorf("%w: key %x is not in the ring", ErrSealed, sealed[1:1+keyIDSize])
	}
	if err := r.use(key, on); err != nil {
		return nil, err
	}
	r.at.Field = field
	r.bound = appendBound(r.bound[:0], sealed[:head], r.at)
	plain, err := r.gcm.Open(nil, sealed[head:head+nonceSize], sealed[head+nonceSize:], r.bound)
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}

// use derives the row's key, unless it is the one at hand.
func (r *RowSealer) use(key *fileKey, on where) error {
	if r.key == key && r.on == on {
		return nil
	}
	gcm, err := key.cipher(on, r.at.Tenant, r.at.Row)
	if err == nil {
		r.key, r.on, r.gcm = key, on, gcm
	}
	return err
}

// appendBound appends the additional data: version, key id, shelf and the
// place, each text after its length.
func appendBound(out, head []byte, at Place) []byte {
	out = append(slices.Grow(out, likelyBound), head...)
	for _, s := range [...]string{at.Tenant, at.Row, at.Field} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(s)))
		out = append(out, s...)
	}
	return out
}

// likelyBound is the room that most additional data need, in bytes.
const likelyBound = 128

// cipher derives the key of one row. It fails with ErrErased.
func (k *fileKey) cipher(on where, tenant, row string) (cipher.AEAD, error) {
	leaf, ok := k.leaf(on, tenant, row)
	if !ok {
		return nil, ErrErased
	}
	secret := rowKey(leaf, row)
	block, err := aes.NewCipher(secret[:])
	if err != nil {
		return nil, fmt.Errorf("row key: %w", err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("row key: %w", err)
	}
	return gcm, nil
}

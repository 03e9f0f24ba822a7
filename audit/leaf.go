package audit

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

// MaxLeaf is the longest leaf body in bytes.
const MaxLeaf = 4 << 10

// SaltSize is the size of a record's salt in bytes.
const SaltSize = 32

// leafVersion is the format version inside every leaf.
const leafVersion = 1

// The refusals of this package.
var (
	ErrLeaf  = errors.New("not the canonical leaf of a record")
	ErrEvent = errors.New("not an event of the closed list")
	ErrLong  = errors.New("the record is longer than a leaf may be")
)

// Salt is the secret of one record's commitments. It is kept beside the
// leaf, never inside: whoever forgets it can no longer guess what was
// committed to, and the log still verifies.
type Salt [SaltSize]byte

// NewSalt returns a random salt.
func NewSalt() Salt {
	var s Salt
	rand.Read(s[:]) // never fails (crypto/rand)
	return s
}

// Commit returns HMAC-SHA256 of value under the salt, in lowercase hex. The
// name is part of it, so that equal values under two names do not show.
func (s Salt) Commit(name string, value []byte) string { return s.Digest(name, value).String() }

// Digest is what [Salt.Commit] returns the hex of.
func (s Salt) Digest(name string, value []byte) canon.Digest {
	if len(value) > longValue {
		return s.digestLong(name, value)
	}
	var room [64]byte
	return keys.MAC(s, committed(room[:0], name), value)
}

// DigestText is [Salt.Digest] of a text.
func (s Salt) DigestText(name, value string) canon.Digest {
	if len(value) > longValue {
		return s.digestLong(name, []byte(value))
	}
	var before [64]byte
	var room [longValue]byte
	return keys.MAC(s, committed(before[:0], name), append(room[:0], value...))
}

// longValue is from how many bytes on a value is not copied to be committed to.
const longValue = keys.ShortMessage / 2

func (s Salt) digestLong(name string, value []byte) canon.Digest {
	mac := hmac.New(sha256.New, s[:])
	mac.Write(committed(nil, name))
	mac.Write(value)
	return canon.Digest(mac.Sum(nil))
}

// committed is what stands before a value.
func committed(out []byte, name string) []byte {
	return append(append(out, byte(len(name)>>8), byte(len(name))), name...)
}

// Check reports whether the record commits to value under name.
func (s Salt) Check(r Record, name string, value []byte) bool {
	c, ok := r.Commitments[name]
	return ok && hmac.Equal([]byte(c), []byte(s.Commit(name, value)))
}

// Leaf returns the RFC 8785 form of the record. It fails with ErrEvent or
// ErrLong, or where a text is not valid UTF-8.
func (r Record) Leaf() ([]byte, error) {
	if !known(r.Event) {
		return nil, ErrEvent
	}
	if leaf, _, ok := r.plainLeaf(nil, nil); ok {
		return leaf, nil
	}
	return r.anyLeaf()
}

// anyLeaf is Leaf for every record, and the judge of what no leaf may hold.
func (r Record) anyLeaf() ([]byte, error) {
	members := []canon.Member{
		{Name: "v", Value: canon.IntValue(leafVersion)},
		{Name: "seq", Value: canon.IntValue(r.Seq)},
		{Name: "at", Value: canon.StringValue(r.At.UTC().Format(time.RFC3339Nano))},
	}
	for _, t := range r.texts() {
		if *t.value != "" {
			members = append(members, canon.Member{Name: t.name, Value: canon.StringValue(*t.value)})
		}
	}
	for _, m := range []struct {
		name  string
		value map[string]string
	}{{"facts", r.Facts}, {"commitments", r.Commitments}} {
		if len(m.value) > 0 {
			members = append(members, canon.Member{Name: m.name, Value: mapValue(m.value)})
		}
	}
	return encode(canon.ObjectValue(members...))
}

func encode(v canon.Value) ([]byte, error) {
	// What a strict reader refuses must not get into the log.
	if err := canon.CheckWithin(v, strict); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLeaf, err)
	}
	leaf := v.Canonical()
	if len(leaf) > MaxLeaf {
		return nil, fmt.Errorf("%w: %d bytes", ErrLong, len(leaf))
	}
	return leaf, nil
}

var strict = canon.Options{MaxBytes: MaxLeaf, MaxDepth: 3, Exact: true}

// text is one optional text member of a record.
type text struct {
	name  string
	value *string
}

func (r *Record) texts() []text {
	return []text{{"id", &r.ID}, {"tenant", &r.Tenant}, {"event", &r.Event}, {"action", &r.Action},
		{"tool", &r.Tool}, {"agent", &r.Agent}, {"by", &r.By}, {"from", &r.From}, {"to", &r.To}, {"code", &r.Code}}
}

func mapValue(m map[string]string) canon.Value {
	members := make([]canon.Member, 0, len(m))
	for name, value := range m {
		members = append(members, canon.Member{Name: name, Value: canon.StringValue(value)})
	}
	return canon.ObjectValue(members...)
}

// ParseLeaf reads a leaf back. It fails with ErrLeaf unless the bytes are
// exactly what [Record.Leaf] writes.
func ParseLeaf(leaf []byte) (Record, error) {
	if r, _, ok := readPlain(leaf, true); ok {
		return r, nil
	}
	return readAny(leaf)
}

// readAny is ParseLeaf for every record, and the judge of what is none.
func readAny(leaf []byte) (Record, error) {
	v, err := canon.Decode(leaf, strict)
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrLeaf, err)
	}
	var r Record
	if seq, ok := v.Get("seq"); ok {
		r.Seq, _ = seq.Int64()
	}
	if at, ok := v.Get("at"); ok {
		if r.At, err = time.Parse(time.RFC3339Nano, at.Text()); err != nil {
			return Record{}, fmt.Errorf("%w: at /at: expected a time", ErrLeaf)
		}
	}
	for _, t := range r.texts() {
		if member, ok := v.Get(t.name); ok {
			*t.value = member.Text()
		}
	}
	r.Facts = mapOf(v, "facts")
	r.Commitments = mapOf(v, "commitments")
	again, err := r.Leaf()
	if err != nil || string(again) != string(leaf) {
		return Record{}, ErrLeaf
	}
	return r, nil
}

func mapOf(v canon.Value, name string) map[string]string {
	m, ok := v.Get(name)
	if !ok || m.Len() == 0 || m.Kind() != canon.Object {
		return nil
	}
	out := make(map[string]string, m.Len())
	for _, member := range m.Members() {
		out[member.Name] = member.Value.Text()
	}
	return out
}

// LeafHash is the Merkle tree hash of one leaf (RFC 6962 §2.1).
func LeafHash(leaf []byte) canon.Digest {
	var of [1 + 4096]byte // stores keep no longer leaf: it is hashed without an allocation
	return canon.Sum(append(append(of[:0], 0), leaf...))
}

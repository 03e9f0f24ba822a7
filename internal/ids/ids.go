// Package ids makes random identifiers. They are never derived from input
// and never reused.
package ids

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"time"
)

var (
	// encoding is that of RFC 4648 §6, in lowercase.
	encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
	// sorting keeps the order of the bytes (RFC 4648 §7, in lowercase).
	sorting = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)
)

// New returns a prefix and 128 random bits in lowercase base32, such as
// "act_7x4k…". crypto/rand never fails on the supported systems.
func New(prefix string) string {
	var b [16]byte
	rand.Read(b[:])
	return prefixed(prefix, encoding, b[:])
}

// Ordered returns a prefix, the time in milliseconds and 128 random bits, in
// lowercase base32 that sorts as its bytes do. Ids that are made one after
// the other stand side by side in the index of a database, so that rows which
// are written together share its pages. The time is no secret from whoever
// may know the id, and nothing is ever concluded from it.
func Ordered(prefix string) string {
	var b [22]byte
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(time.Now().UnixMilli()))
	copy(b[:6], ms[2:])
	rand.Read(b[6:])
	return prefixed(prefix, sorting, b[:])
}

func prefixed(prefix string, as *base32.Encoding, b []byte) string {
	var room [64]byte
	return string(as.AppendEncode(append(append(room[:0], prefix...), '_'), b))
}

// Nonce returns 256 random bits in lowercase base32.
func Nonce() string {
	var b [32]byte
	rand.Read(b[:])
	return encoding.EncodeToString(b[:])
}

// Package ids makes random identifiers. They are never derived from input
// and never reused.
package ids

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"time"
)

var (
	encoding = base32.StdEncoding.WithPadding(base32.NoPadding)
	// sorting keeps the order of the bytes (RFC 4648 §7).
	sorting = base32.HexEncoding.WithPadding(base32.NoPadding)
)

// New returns a prefix and 128 random bits in lowercase base32, such as
// "act_7x4k…". crypto/rand never fails on the supported systems.
func New(prefix string) string {
	var b [16]byte
	rand.Read(b[:])
	return prefix + "_" + strings.ToLower(encoding.EncodeToString(b[:]))
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
	return prefix + "_" + strings.ToLower(sorting.EncodeToString(b[:]))
}

// Nonce returns 256 random bits in lowercase base32.
func Nonce() string {
	var b [32]byte
	rand.Read(b[:])
	return strings.ToLower(encoding.EncodeToString(b[:]))
}

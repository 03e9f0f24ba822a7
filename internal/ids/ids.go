// Package ids makes random identifiers. They are never derived from input
// and never reused.
package ids

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

var encoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// New returns a prefix and 128 random bits in lowercase base32, such as
// "act_7x4k…". crypto/rand never fails on the supported systems.
func New(prefix string) string {
	var b [16]byte
	rand.Read(b[:])
	return prefix + "_" + strings.ToLower(encoding.EncodeToString(b[:]))
}

// Nonce returns 256 random bits in lowercase base32.
func Nonce() string {
	var b [32]byte
	rand.Read(b[:])
	return strings.ToLower(encoding.EncodeToString(b[:]))
}

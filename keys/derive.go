package keys

import "crypto/sha256"

// The sizes of HMAC-SHA256 (RFC 2104 §2).
const (
	macBlock = 64
	ipad     = 0x36
	opad     = 0x5c
)

// ShortMessage is up to how many bytes [MAC] puts a message together without
// asking for memory.
const ShortMessage = 1 << 10

// MAC is HMAC-SHA256 (RFC 2104) of what the parts are together, under a key of 32
// bytes. crypto/hmac gives the same, and takes a message piece by piece; this is
// for the many short ones that each record and each row have.
func MAC(key [32]byte, parts ...[]byte) [sha256.Size]byte {
	var room [macBlock + ShortMessage]byte
	message := padded(&room, key, ipad)
	for _, part := range parts {
		message = append(message, part...)
	}
	inner := sha256.Sum256(message)
	return sha256.Sum256(append(padded(&room, key, opad), inner[:]...))
}

// padded begins a message with the key's block.
func padded(room *[macBlock + ShortMessage]byte, key [32]byte, pad byte) []byte {
	for i := range macBlock {
		room[i] = pad
	}
	for i, b := range key {
		room[i] ^= b
	}
	return room[:macBlock]
}

// rowKey is HKDF-SHA256 (RFC 5869) of a seed, without a salt and with one block
// of output.
func rowKey(leaf seed, row string) [keySize]byte {
	var room [256]byte
	info := append(append(append(room[:0], "verbatim row "...), row...), 1)
	return MAC(MAC([keySize]byte{}, leaf[:]), info)
}

package action

import (
	"encoding/binary"

	"github.com/seed-de4804fb/verbatim/canon"
)

// ProviderKey is the idempotency key that a provider gets for one attempt: a
// hash of the action's id and the attempt, so that it tells nothing and a
// re-send of the same attempt carries the same key (reliability 1.2, T6).
func ProviderKey(id string, attempt int) string {
	var room [128]byte
	text := append(append(room[:0], id...), 0)
	return canon.Sum(binary.BigEndian.AppendUint64(text, uint64(attempt))).String()
}

package action_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
)

func TestTheKeyOfAnAttemptIsTheHashOfIDAndAttempt(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "act_1", strings.Repeat("a", 500)} {
		sum := sha256.Sum256([]byte(id + "\x00\x00\x00\x00\x00\x00\x00\x01\x02"))
		if got, want := action.ProviderKey(id, 0x102), hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%q: %s, want %s", id, got, want)
		}
	}
}

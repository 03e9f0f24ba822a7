package keys_test

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/keys"
)

func TestMACIsHMACOfAllParts(t *testing.T) {
	t.Parallel()
	part := rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 0, 80), rapid.Custom(func(t *rapid.T) []byte {
		return make([]byte, rapid.OneOf(rapid.IntRange(1000, 1100), rapid.IntRange(0, 5000)).Draw(t, "size"))
	}))
	rapid.Check(t, func(t *rapid.T) {
		key := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		parts := rapid.SliceOfN(part, 0, 4).Draw(t, "parts")
		mac := hmac.New(sha256.New, key[:])
		for _, p := range parts {
			mac.Write(p)
		}
		got := keys.MAC(key, parts...)
		if diff := cmp.Diff(mac.Sum(nil), got[:]); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestTheKeyOfARowIsThatOfHKDF(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed"))
		row := rapid.OneOf(rapid.StringN(0, 60, -1), rapid.StringN(200, 400, -1)).Draw(t, "row")
		want, err := hkdf.Key(sha256.New, seed[:], nil, "verbatim row "+row, len(seed))
		if err != nil {
			t.Fatal(err)
		}
		got := keys.RowKey(seed, row)
		if diff := cmp.Diff(want, got[:]); diff != "" {
			t.Fatal(diff)
		}
	})
}

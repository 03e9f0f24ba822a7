package keys_test

import (
	"testing"

	"github.com/seed-de4804fb/verbatim/internal/wycheprooftest"
	"github.com/seed-de4804fb/verbatim/keys"
)

// TestWycheproofPasskeys: every kind of key that a passkey may have.
func TestWycheproofPasskeys(t *testing.T) {
	t.Parallel()
	for file, atLeast := range map[string]int{"ecdsa_secp256r1_sha256_test.json": 484, "ed25519_test.json": 151, "rsa_signature_2048_sha256_test.json": 259,
		"rsa_signature_4096_sha256_test.json": 258} {
		for _, v := range wycheprooftest.Read(t, file, atLeast) {
			p, err := keys.ParsePasskey([]byte("id"), v.DER)
			if err != nil {
				t.Errorf("%s, test %d: %v", file, v.ID, err)
				continue
			}
			v.Check(t, file, p.Holds(v.Message, v.Sig))
		}
	}
}

// TestWycheproofOtherCurves: keys that are no passkey's are refused as keys.
func TestWycheproofOtherCurves(t *testing.T) {
	t.Parallel()
	for file, atLeast := range map[string]int{"ecdsa_secp384r1_sha256_test.json": 1, "ecdsa_secp256k1_sha256_test.json": 1, "ed448_test.json": 1} {
		for _, v := range wycheprooftest.Read(t, file, atLeast) {
			if _, err := keys.ParsePasskey([]byte("id"), v.DER); err == nil {
				t.Errorf("%s, test %d: the key is taken", file, v.ID)
			}
		}
	}
}

// TestWycheproofEnvelopes: what DSSE envelopes, warrants and receipts are
// verified with.
func TestWycheproofEnvelopes(t *testing.T) {
	t.Parallel()
	const file = "ed25519_test.json"
	for _, v := range wycheprooftest.Read(t, file, 151) {
		v.Check(t, file, keys.VerifyBytes(v.Message, v.Sig, v.Raw) != nil)
	}
}

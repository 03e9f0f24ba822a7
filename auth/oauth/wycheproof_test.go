package oauth_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/auth/oauth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/wycheprooftest"
)

// TestWycheproofSignaturesUnderJSONWebKeys: every algorithm that an access
// token may have.
func TestWycheproofSignaturesUnderJSONWebKeys(t *testing.T) {
	t.Parallel()
	for file, about := range map[string]struct {
		alg     string
		atLeast int
	}{"ecdsa_secp256r1_sha256_p1363_test.json": {"ES256", 262}, "ed25519_test.json": {"EdDSA", 151},
		"rsa_signature_2048_sha256_test.json": {"RS256", 259}, "rsa_signature_4096_sha256_test.json": {"RS256", 258},
		"rsa_pss_2048_sha256_mgf1_32_test.json": {"PS256", 108}, "rsa_pss_4096_sha256_mgf1_32_test.json": {"PS256", 108}} {
		for _, v := range wycheprooftest.Read(t, file, about.atLeast) {
			if v.JWK == nil { // a key that has no such form
				continue
			}
			key, err := canon.Decode(v.JWK, canon.Options{})
			if err != nil {
				t.Fatal(err)
			}
			v.Check(t, file, oauth.Holds(key, about.alg, v.Message, v.Sig))
		}
	}
}

// TestWycheproofTokens: a token holds where its vector is valid and its
// algorithm is one that is taken here, else never.
func TestWycheproofTokens(t *testing.T) {
	t.Parallel()
	const file = "json_web_signature_test.json"
	taken := 0
	for _, v := range wycheprooftest.Read(t, file, 401) {
		verifier, err := oauth.New(oauth.Config{Issuer: issuer, Audience: audience, Fetch: func(context.Context) ([]byte, error) {
			return []byte(`{"keys":[` + string(v.JWK) + `]}`), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		holds := verifier.Signed(t.Context(), v.JWS) == nil
		if v.Valid && !slices.Contains([]string{"RS256", "PS256", "ES256", "EdDSA"}, algorithm(v.JWS)) {
			v.Valid = false
		}
		if holds {
			taken++
		}
		v.Check(t, file, holds)
	}
	if taken < 3 {
		t.Errorf("%d tokens hold: the test is blind", taken)
	}
}

// algorithm is what the header of a token says.
func algorithm(token string) string {
	part, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(part)
	var header struct{ Alg string }
	if err != nil || json.Unmarshal(text, &header) != nil {
		return ""
	}
	return header.Alg
}

package idp_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/auth/idp"
	"github.com/seed-de4804fb/verbatim/internal/wycheprooftest"
)

// TestWycheproofIDTokens: a token holds where its vector is valid and its
// algorithm is one that an ID token may have, else never.
func TestWycheproofIDTokens(t *testing.T) {
	t.Parallel()
	const file = "json_web_signature_test.json"
	seen := map[string]int{}
	for _, v := range wycheprooftest.Read(t, file, 401) {
		alg := algorithm(v.JWS)
		seen[alg]++
		v.Valid = v.Valid && slices.Contains(idp.Algorithms(), alg)
		keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"keys":[` + string(v.JWK) + `]}`)) // the client would say
		}))
		err := idp.Signed(t.Context(), keys.Client(), keys.URL, v.JWS)
		keys.Close()
		v.Check(t, file, err == nil)
	}
	t.Logf("tests by algorithm: %v", seen)
	for _, alg := range []string{"RS256", "PS256", "ES256"} {
		if seen[alg] == 0 {
			t.Errorf("no test of %s", alg)
		}
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

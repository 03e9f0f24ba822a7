package oauth_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/auth/oauth"
)

const (
	issuer   = "https://issuer.example.com"
	audience = "https://gate.example.com/mcp"
)

var now = time.Unix(1_800_000_000, 0)

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// server is an authorization server.
type server struct {
	t     *testing.T
	rsa   *rsa.PrivateKey
	ec    *ecdsa.PrivateKey
	ed    ed25519.PrivateKey
	at    time.Time
	asked int
	down  bool
	extra string // more keys
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, at: now}
	var err error
	if s.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	if s.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if _, s.ed, err = ed25519.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *server) fetch(context.Context) ([]byte, error) {
	s.asked++
	if s.down {
		return nil, errors.New("no route")
	}
	point, err := s.ec.PublicKey.Bytes()
	if err != nil {
		return nil, err
	}
	return []byte(fmt.Sprintf(`{"keys":[{"kid":"r","kty":"RSA","alg":"RS256","use":"sig","n":%q,"e":"AQAB"},`+
		`{"kid":"e","kty":"EC","crv":"P-256","x":%q,"y":%q},{"kid":"d","kty":"OKP","crv":"Ed25519","x":%q},`+
		`{"kid":"enc","kty":"RSA","use":"enc","n":%q,"e":"AQAB"},{"kid":"weak","kty":"RSA","n":"AQAB","e":"AQAB"}%s]}`,
		b64(s.rsa.N.Bytes()), b64(point[1:33]), b64(point[33:]), b64(s.ed.Public().(ed25519.PublicKey)), b64(s.rsa.N.Bytes()), s.extra)), nil
}

func (s *server) verifier() *oauth.Verifier {
	s.t.Helper()
	v, err := oauth.New(oauth.Config{Issuer: issuer, Audience: audience, Scopes: []string{"mcp"}, Fetch: s.fetch, RolesClaim: "roles", Now: func() time.Time { return s.at }})
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

type object = map[string]any

func good() object {
	return object{"iss": issuer, "aud": audience, "sub": "ada", "client_id": "builder", "scope": "mcp other", "roles": []string{"clerk"},
		"exp": now.Add(time.Hour).Unix(), "iat": now.Unix()}
}

// sign makes a token of raw parts.
func (s *server) sign(alg, header, payload string) string {
	s.t.Helper()
	signed := b64([]byte(header)) + "." + b64([]byte(payload))
	sum := sha256.Sum256([]byte(signed))
	var signature []byte
	var err error
	switch alg {
	case "RS256":
		signature, err = rsa.SignPKCS1v15(rand.Reader, s.rsa, crypto.SHA256, sum[:])
	case "ES256":
		r, q, e := ecdsa.Sign(rand.Reader, s.ec, sum[:])
		err = e
		if e == nil {
			signature = append(r.FillBytes(make([]byte, 32)), q.FillBytes(make([]byte, 32))...)
		}
	case "ES256 DER":
		signature, err = ecdsa.SignASN1(rand.Reader, s.ec, sum[:])
	case "EdDSA":
		signature = ed25519.Sign(s.ed, []byte(signed))
	case "HS256": // with the public key as the secret
		mac := hmac.New(sha256.New, s.rsa.N.Bytes())
		mac.Write([]byte(signed))
		signature = mac.Sum(nil)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return signed + "." + b64(signature)
}

func (s *server) token(alg, kid string, change object) string {
	s.t.Helper()
	claims := good()
	maps.Copy(claims, change)
	for k, v := range claims {
		if v == nil {
			delete(claims, k)
		}
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.sign(alg, fmt.Sprintf(`{"alg":%q,"kid":%q,"typ":"at+jwt"}`, alg, kid), string(payload))
}

func TestGoodTokensOfEveryAlgorithm(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for alg, kid := range map[string]string{"RS256": "r", "ES256": "e", "EdDSA": "d"} {
		got, err := s.verifier().Verify(context.Background(), s.token(alg, kid, object{"aud": []string{"https://else.example.com", audience}}))
		want := oauth.Claims{Subject: "ada", Client: "builder", Roles: []string{"clerk"}, Expires: now.Add(time.Hour)}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", alg, err, diff)
		}
	}
}

func TestBadTokensAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ok := s.token("RS256", "r", nil)
	parts := strings.Split(ok, ".")
	payload, err := json.Marshal(good())
	if err != nil {
		t.Fatal(err)
	}
	header := func(text string) string { return s.sign("RS256", text, string(payload)) }
	claims := func(change object) string { return s.token("RS256", "r", change) }
	other := newServer(t)
	for _, tt := range []struct{ name, token string }{
		{"nothing", ""},
		{"no token", "abc"},
		{"two parts", parts[0] + "." + parts[1]},
		{"four parts", ok + ".x"},
		{"five parts, as an encrypted one", ok + ".x.y"},
		{"too long", ok + strings.Repeat("A", oauth.MaxToken)},
		{"padding", parts[0] + "." + parts[1] + "=." + parts[2]},
		{"white space", ok + " "},
		{"no signature", parts[0] + "." + parts[1] + "."},
		{"a cut signature", ok[:len(ok)-4]},
		{"the signature of another token", parts[0] + "." + parts[1] + "." + strings.Split(claims(object{"sub": "bob"}), ".")[2]},
		{"claims changed after signing", parts[0] + "." + b64([]byte(strings.Replace(string(payload), "ada", "bob", 1))) + "." + parts[2]},
		{"a key of somebody else", other.token("RS256", "r", nil)},
		{"alg none", s.sign("none", `{"alg":"none","kid":"r"}`, string(payload))},
		{"alg None", s.sign("none", `{"alg":"None","kid":"r"}`, string(payload))},
		{"no alg", header(`{"kid":"r"}`)},
		{"alg that is no text", header(`{"alg":["RS256"],"kid":"r"}`)},
		{"HS256 with the public key", s.sign("HS256", `{"alg":"HS256","kid":"r"}`, string(payload))},
		{"RS512 on a key for RS256", header(`{"alg":"RS512","kid":"r"}`)},
		{"ES256 named on the RSA key", header(`{"alg":"ES256","kid":"r"}`)},
		{"RS256 named on the P-256 key", header(`{"alg":"RS256","kid":"e"}`)},
		{"a DER signature", s.sign("ES256 DER", `{"alg":"ES256","kid":"e"}`, string(payload))},
		{"no kid", header(`{"alg":"RS256"}`)},
		{"an unknown kid", header(`{"alg":"RS256","kid":"zzz"}`)},
		{"a key for encryption", header(`{"alg":"RS256","kid":"enc"}`)},
		{"a weak key", header(`{"alg":"RS256","kid":"weak"}`)},
		{"kid twice", header(`{"alg":"RS256","kid":"e","kid":"r"}`)},
		{"a key in the token", header(`{"alg":"RS256","kid":"r","jwk":{}}`)},
		{"an address of keys in the token", header(`{"alg":"RS256","kid":"r","jku":"https://evil.example.com"}`)},
		{"certificates in the token", header(`{"alg":"RS256","kid":"r","x5c":[]}`)},
		{"crit", header(`{"alg":"RS256","kid":"r","crit":["exp"]}`)},
		{"an id token", header(`{"alg":"RS256","kid":"r","typ":"id_token+jwt"}`)},
		{"a logout token", header(`{"alg":"RS256","kid":"r","typ":"logout+jwt"}`)},
		{"claims that are no object", s.sign("RS256", `{"alg":"RS256","kid":"r"}`, `[]`)},
		{"sub twice", s.sign("RS256", `{"alg":"RS256","kid":"r"}`, strings.Replace(string(payload), `"sub"`, `"sub":"bob","sub"`, 1))},
		{"no issuer", claims(object{"iss": nil})},
		{"another issuer", claims(object{"iss": "https://evil.example.com"})},
		{"an issuer with a slash", claims(object{"iss": issuer + "/"})},
		{"no audience", claims(object{"aud": nil})},
		{"another audience", claims(object{"aud": "https://else.example.com"})},
		{"an audience that begins alike", claims(object{"aud": audience + "/x"})},
		{"an empty list of audiences", claims(object{"aud": []string{}})},
		{"a list with other kinds", claims(object{"aud": []any{audience, 1}})},
		{"no end", claims(object{"exp": nil})},
		{"ended", claims(object{"exp": now.Add(-time.Second).Unix()})},
		{"ends now", claims(object{"exp": now.Unix()})},
		{"an end that is text", claims(object{"exp": "9999999999"})},
		{"an end in thousands of years", claims(object{"exp": int64(1) << 50})},
		{"not begun", claims(object{"nbf": now.Add(2 * oauth.Leeway).Unix()})},
		{"made in the future", claims(object{"iat": now.Add(2 * oauth.Leeway).Unix()})},
		{"no subject", claims(object{"sub": nil})},
		{"an empty subject", claims(object{"sub": ""})},
		{"a subject that hides letters", claims(object{"sub": "ada\u202e"})},
		{"a subject with a space", claims(object{"sub": "ada bob"})},
		{"a subject that is a number", claims(object{"sub": 5})},
		{"no client", claims(object{"client_id": nil})},
	} {
		if got, err := s.verifier().Verify(context.Background(), tt.token); !errors.Is(err, oauth.ErrToken) {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
	for _, scope := range []any{nil, "", "other", "mcpx", "MCP"} {
		if _, err := s.verifier().Verify(context.Background(), claims(object{"scope": scope})); !errors.Is(err, oauth.ErrScope) {
			t.Errorf("scope %v: %v", scope, err)
		}
	}
}

func TestKeysAreRotatedWithoutAskingForEach(t *testing.T) {
	t.Parallel()
	s, next := newServer(t), newServer(t)
	v := s.verifier()
	verify := func(token string) error {
		_, err := v.Verify(context.Background(), token)
		return err
	}
	if err := verify(s.token("RS256", "r", nil)); err != nil {
		t.Fatal(err)
	}
	fresh := next.token("EdDSA", "new", nil)
	for range 100 {
		if err := verify(fresh); !errors.Is(err, oauth.ErrToken) {
			t.Fatalf("an unknown key: %v", err)
		}
	}
	if s.asked > 2 {
		t.Errorf("the keys were asked for %d times", s.asked)
	}
	s.extra = fmt.Sprintf(`,{"kid":"new","kty":"OKP","crv":"Ed25519","x":%q}`, b64(next.ed.Public().(ed25519.PublicKey)))
	s.at = s.at.Add(oauth.MinRefresh)
	if err := verify(fresh); err != nil {
		t.Errorf("a new key: %v", err)
	}
	s.down = true
	s.at = s.at.Add(oauth.MaxAge / 2)
	if err := verify(fresh); err != nil {
		t.Errorf("with the server down for a moment: %v", err)
	}
	s.at = s.at.Add(oauth.MaxAge)
	for range 2 {
		if err := verify(fresh); err == nil || errors.Is(err, oauth.ErrToken) {
			t.Errorf("with keys that are too old: %v", err)
		}
	}
}

// A key that was withdrawn is believed no longer once the keys were asked for
// again; where they cannot be had, the known ones stay.
func TestRefreshTakesWithdrawnKeysAway(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	v := s.verifier()
	token := s.token("RS256", "r", nil)
	if _, err := v.Verify(context.Background(), token); err != nil {
		t.Fatal(err)
	}
	s.down = true
	if err := v.Refresh(context.Background()); err == nil {
		t.Error("keys came from nowhere")
	}
	if _, err := v.Verify(context.Background(), token); err != nil {
		t.Errorf("while the server is down: %v", err)
	}
	s.down, s.rsa = false, newServer(t).rsa
	if err := v.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(context.Background(), token); !errors.Is(err, oauth.ErrToken) {
		t.Errorf("the key that was withdrawn: %v", err)
	}
}

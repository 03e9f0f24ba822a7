package idptest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const keyID = "key-1"

type person struct {
	name   string
	groups []string
}

// grant is what a code stands for.
type grant struct {
	sub, nonce, challenge, redirect string
	authTime                        time.Time
}

type provider struct {
	issuer string
	key    *ecdsa.PrivateKey
	other  *ecdsa.PrivateKey // that nobody knows of

	mu       sync.Mutex
	people   map[string]person
	order    []string
	codes    map[string]grant
	sessions map[string]grant // by cookie: who signed in, and when
	wrong    string
}

func newProvider(issuer string) (*provider, error) {
	p := &provider{issuer: issuer, people: map[string]person{}, codes: map[string]grant{}, sessions: map[string]grant{}}
	var err error
	if p.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err == nil {
		p.other, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	return p, err
}

func (p *provider) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		write(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &p.key.PublicKey, KeyID: keyID, Algorithm: "ES256", Use: "sig"}}})
	})
	mux.HandleFunc("GET /authorize", p.choose)
	mux.HandleFunc("POST /authorize", p.chosen)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("POST /test/person", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		sub := r.FormValue("sub")
		if _, known := p.people[sub]; !known {
			p.order = append(p.order, sub)
		}
		p.people[sub] = person{r.FormValue("name"), r.Form["groups"]}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /test/wrong", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.wrong = r.FormValue("way")
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (p *provider) discovery(w http.ResponseWriter, _ *http.Request) {
	write(w, map[string]any{"issuer": p.issuer, "authorization_endpoint": p.issuer + "/authorize", "token_endpoint": p.issuer + "/token",
		"jwks_uri": p.issuer + "/keys", "response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"ES256"}, "code_challenge_methods_supported": []string{"S256"}})
}

// asked refuses what a provider refuses.
func asked(q url.Values) string {
	at, err := url.Parse(q.Get("redirect_uri"))
	switch {
	case q.Get("client_id") != Client:
		return "unknown client"
	case err != nil || at.Path != "/login/oidc/callback":
		return "unknown redirect_uri"
	case q.Get("response_type") != "code", q.Get("code_challenge_method") != "S256", len(q.Get("code_challenge")) != 43:
		return "a code with PKCE is the only way"
	case q.Get("nonce") == "", q.Get("state") == "":
		return "nonce and state are needed"
	}
	return ""
}

var page = template.Must(template.New("").Parse(`<!DOCTYPE html><title>Provider</title><h1>Who are you?</h1><form method="post" action="/authorize">
{{range $name, $values := .Query}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">{{end}}{{end}}
{{range .People}}<button name="sub" value="{{.}}" id="{{.}}">{{.}}</button>{{end}}</form>`))

// choose lets a browser say who it is, unless it has said so before and need
// not again.
func (p *provider) choose(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if why := asked(q); why != "" {
		http.Error(w, why, http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, err := r.Cookie("idp"); err == nil && q.Get("prompt") != "login" {
		if before, known := p.sessions[c.Value]; known {
			p.back(w, r, q, before)
			return
		}
	}
	_ = page.Execute(w, map[string]any{"Query": q, "People": p.order})
}

func (p *provider) chosen(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || asked(r.Form) != "" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	session, g := rand.Text(), grant{sub: r.Form.Get("sub"), authTime: time.Now()}
	p.sessions[session] = g
	http.SetCookie(w, &http.Cookie{Name: "idp", Value: session, Path: "/", HttpOnly: true})
	p.back(w, r, r.Form, g)
}

// back sends the browser back with a code.
func (p *provider) back(w http.ResponseWriter, r *http.Request, q url.Values, g grant) {
	g.nonce, g.challenge, g.redirect = q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri")
	code := rand.Text()
	p.codes[code] = g
	answer := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.issuer}}
	http.Redirect(w, r, g.redirect+"?"+answer.Encode(), http.StatusSeeOther)
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	client, secret, basic := r.BasicAuth()
	if !basic {
		client, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	if basic {
		client, _ = url.QueryUnescape(client)
		secret, _ = url.QueryUnescape(secret)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	g, known := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !known || client != Client || secret != Secret || r.FormValue("redirect_uri") != g.redirect || base64.RawURLEncoding.EncodeToString(sum[:]) != g.challenge {
		w.WriteHeader(http.StatusBadRequest)
		write(w, map[string]string{"error": "invalid_grant"})
		return
	}
	way := p.wrong
	p.wrong = ""
	answer := map[string]any{"access_token": "an access token", "token_type": "Bearer", "expires_in": 60}
	id, err := p.sign(p.claims(g, way), way)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if answer["id_token"] = id; way == "no token" {
		delete(answer, "id_token")
	}
	write(w, answer)
}

// Ways are the ways in which an ID token can be made wrong.
func Ways() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for way := range wrongs() {
			if !yield(way) {
				return
			}
		}
		for _, way := range []string{"no token", "no algorithm", "a shared secret", "an unknown key", "a broken signature"} {
			if !yield(way) {
				return
			}
		}
	})
}

// wrongs change the claims of a good token.
func wrongs() map[string]func(c map[string]any) {
	now := time.Now().Unix()
	set := func(name string, value any) func(map[string]any) { return func(c map[string]any) { c[name] = value } }
	return map[string]func(map[string]any){
		"another nonce": set("nonce", "another"), "no nonce": func(c map[string]any) { delete(c, "nonce") },
		"another audience": set("aud", "somebody else"), "no audience": func(c map[string]any) { delete(c, "aud") },
		"two audiences and no azp": set("aud", []string{Client, "other"}), "another azp": set("azp", "other"),
		"another issuer": set("iss", "https://other.example.com"), "issuer with a slash": func(c map[string]any) { c["iss"] = fmt.Sprint(c["iss"]) + "/" },
		"expired": set("exp", now-60), "no expiry": func(c map[string]any) { delete(c, "exp") }, "not yet": set("nbf", now+3600),
		"from the future": set("iat", now+3600), "no subject": set("sub", ""), "a long subject": set("sub", string(make([]byte, 300))),
		"another access token": set("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"), "signed in tomorrow": set("auth_time", now+86400),
	}
}

func (p *provider) claims(g grant, way string) map[string]any {
	who, now := p.people[g.sub], time.Now()
	c := map[string]any{"iss": p.issuer, "sub": g.sub, "aud": Client, "exp": now.Add(time.Minute).Unix(), "iat": now.Unix(), "nonce": g.nonce,
		"auth_time": g.authTime.Unix(), "name": who.name, "preferred_username": g.sub, "groups": who.groups}
	if change := wrongs()[way]; change != nil {
		change(c)
	}
	switch way { // what is not wrong in itself, but is not fresh either
	case "no auth_time":
		delete(c, "auth_time")
	case "an old auth_time":
		c["auth_time"] = now.Add(-time.Hour).Unix()
	}
	return c
}

// sign signs claims, or does not.
func (p *provider) sign(claims map[string]any, way string) (string, error) {
	text, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	b64 := base64.RawURLEncoding.EncodeToString
	key := jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: keyID}}
	switch way {
	case "no algorithm":
		return b64([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + b64(text) + ".", nil
	case "a shared secret":
		key = jose.SigningKey{Algorithm: jose.HS256, Key: []byte(Secret + Secret)}
	case "an unknown key":
		key.Key = jose.JSONWebKey{Key: p.other, KeyID: keyID}
	}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(text)
	if err != nil {
		return "", err
	}
	out, err := signed.CompactSerialize()
	if way == "a broken signature" && err == nil {
		out = out[:len(out)-4] + "AAAA"
	}
	return out, err
}

package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/auth"
)

// cookieName has the prefix that makes browsers refuse the cookie from
// anybody but this host over TLS (RFC 6265bis §4.1.3.2).
func (s *site) cookieName() string {
	if s.origin.Secure() {
		return "__Host-verbatim"
	}
	return "verbatim"
}

func (s *site) cookie(token string) *http.Cookie {
	c := &http.Cookie{Name: s.cookieName(), Value: token, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: s.origin.Secure(), MaxAge: int(auth.LoginLife.Seconds())}
	if token == "" {
		c.MaxAge = -1
	}
	return c
}

// formToken binds a form to the login that it was shown to and to what it is
// about. It decides nothing by itself.
func (s *site) formToken(v visit, about ...string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(v.login.Token[:])
	for _, part := range about {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		mac.Write(size[:])
		mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (s *site) ownForm(v visit, token string, about ...string) bool {
	return hmac.Equal([]byte(token), []byte(s.formToken(v, about...)))
}

var errForm = errors.New("form is not one of ours")

// readForm reads exactly the named fields, each once.
func readForm(r *http.Request, names ...string) (map[string]string, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, errForm
	}
	if err := r.ParseForm(); err != nil || len(r.PostForm) != len(names) {
		return nil, errForm
	}
	fields := map[string]string{}
	for name, values := range r.PostForm {
		if len(values) != 1 || !slices.Contains(names, name) {
			return nil, errForm
		}
		fields[name] = values[0]
	}
	return fields, nil
}

// loginPath leads back to a page after the login.
func loginPath(from *url.URL) string {
	next := from.EscapedPath()
	if from.RawQuery != "" {
		next += "?" + from.RawQuery
	}
	if safeNext(next) == "/" {
		return "/login"
	}
	return "/login?" + url.Values{"next": {next}}.Encode()
}

// safeNext lets a login lead to the site's own reading pages only.
func safeNext(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Fragment != "" || len(next) > 500 ||
		strings.ContainsAny(next, "\\\r\n\t") || strings.HasPrefix(next, "//") {
		return "/"
	}
	for _, start := range []string{"/actions", "/records", "/people", "/account", "/grants"} {
		if u.Path == start || strings.HasPrefix(u.Path, start+"/") {
			return u.String()
		}
	}
	return "/"
}

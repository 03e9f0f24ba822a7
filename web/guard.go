package web

import (
	"net/http"
	"strings"

	"github.com/seed-de4804fb/verbatim/internal/origin"
)

// maxBody bounds a form: a digest, a token, a reason and a password.
const maxBody = 16 << 10

// policy allows the page's own style, icon and script and nothing else.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// guard refuses whatever did not come from the pages themselves, before any
// route is looked at.
func (s *site) guard(next http.Handler) (http.Handler, error) {
	cross := http.NewCrossOriginProtection()
	if err := cross.AddTrustedOrigin(s.origin.String()); err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.headers(w)
		switch {
		case !s.ownHost(r.Host) && !elsewhere(r):
			http.Error(w, "unknown host", http.StatusMisdirectedRequest)
		case r.Header.Get("Authorization") != "":
			http.Error(w, "tokens are not accepted here", http.StatusForbidden)
		case !readOnly(r) && (cross.Check(r) != nil || !s.fromHere(r)):
			http.Error(w, "cross-origin request", http.StatusForbidden)
		case !readOnly(r) && r.URL.RawQuery != "":
			http.Error(w, "a form has no query", http.StatusBadRequest)
		case s.ownHost(r.Host) || r.URL.Path == healthPath:
			r.Body = http.MaxBytesReader(w, r.Body, bodyOf(r))
			next.ServeHTTP(w, r)
		default: // a name of this machine: the page has one address only
			http.Redirect(w, r, s.origin.String()+r.URL.RequestURI(), http.StatusFound)
		}
	}), nil
}

// bodyOf is how long a form may be. A page of decisions has a signature and a
// reason for each.
func bodyOf(r *http.Request) int64 {
	if r.URL.Path == "/batch" {
		return maxBatch * maxBody / 2
	}
	return maxBody
}

func readOnly(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// healthPath answers under every name of this machine, for whoever watches it.
const healthPath = "/healthz"

// ownHost keeps names out that an attacker's name server points here (DNS
// rebinding).
func (s *site) ownHost(host string) bool { return strings.EqualFold(host, s.origin.Host()) }

// elsewhere reports whether a request came by another name of this machine,
// and may be led to the right one: passkeys and cookies are for that one.
func elsewhere(r *http.Request) bool {
	return readOnly(r) && origin.Loopback(strings.ToLower(r.Host)) && strings.HasPrefix(r.URL.Path, "/")
}

// fromHere demands what CrossOriginProtection only checks if it is there: a
// browser says where a form comes from, and it must be this very site.
func (s *site) fromHere(r *http.Request) bool {
	site, from := r.Header.Values("Sec-Fetch-Site"), r.Header.Values("Origin")
	if len(site) > 1 || len(from) > 1 || len(site)+len(from) == 0 {
		return false
	}
	if len(site) == 1 && site[0] != "same-origin" {
		return false
	}
	return len(from) == 0 || from[0] == s.origin.String()
}

func (s *site) headers(w http.ResponseWriter) {
	for name, value := range map[string]string{
		"Content-Security-Policy":      policy,
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Cache-Control":                "no-store",
		"Referrer-Policy":              "same-origin", // no-referrer would take the origin from our own forms
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), payment=()",
	} {
		w.Header().Set(name, value)
	}
	if s.origin.Secure() {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
	}
}

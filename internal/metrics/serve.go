package metrics

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// Door says who may scrape.
type Door struct {
	// Token, if not "", must come as "Authorization: Bearer TOKEN".
	Token string
	// Loopback: only requests to a name of this machine are answered, so that
	// no web page can lead a browser here under a name of its own.
	Loopback bool
}

// Handler serves GET /metrics, and nothing else.
func (r *Registry) Handler(d Door) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, req *http.Request) {
		if d.Loopback && !local(req.Host) {
			http.Error(w, "the metrics are served under the names of this machine", http.StatusMisdirectedRequest)
			return
		}
		if d.Token != "" && !bears(req, d.Token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed", http.StatusUnauthorized)
			return
		}
		text, _ := r.Text(req.Context())
		h := w.Header()
		h.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(text) // whoever asked has gone
	})
	return mux
}

func bears(r *http.Request, token string) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// local reports whether a Host header names this machine.
func local(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return ip != nil && ip.IsLoopback()
}

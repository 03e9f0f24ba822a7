package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/web"
)

// elsewhere are ways in which a request shows that it is not the page's own.
func elsewhere() []tamper {
	return []tamper{
		origins("no origin at all", "", ""), origins("cross-site", "cross-site", "https://evil.example"), origins("same site, other port", "same-site", "http://127.0.0.1:9999"),
		origins("typed address", "none", ""), origins("null origin", "", "null"), origins("our name inside another", "", origin+".evil.example"),
		host("evil.example"), host("127.0.0.1.evil.example:8420"), host("2130706433:8420"), host("0.0.0.0:8420"), header("Authorization", "Bearer agent-token"),
	}
}

// TestNoFormAnswersOtherSitesOrNames sends every form of every page from
// elsewhere, with the cookie of a person who is signed in.
func TestNoFormAnswersOtherSitesOrNames(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"), unclear("act_2"), ordinary("act_3", "ls"))
	sent := 0
	for _, route := range web.Routes() {
		if route.Method != http.MethodPost {
			continue
		}
		for _, way := range elsewhere() {
			form := url.Values{"password": {password}, "reason": {"x"}}
			w := httptest.NewRecorder()
			b.site.ServeHTTP(w, way.do(b.request(http.MethodPost, concrete(route), form), form))
			if w.Code != http.StatusForbidden && w.Code != http.StatusMisdirectedRequest {
				t.Errorf("POST %s, %s: %d; want 403 or 421", route.Path, way.name, w.Code)
			}
			sent++
		}
	}
	if sent < 150 {
		t.Errorf("only %d requests", sent)
	}
	if len(b.gate.votes)+len(b.gate.stops)+len(b.gate.settled)+len(b.gate.revoked) != 0 {
		t.Error("something was decided")
	}
}

// TestNoPageIsFramedOrReadElsewhere asks for what keeps a page out of frames,
// other windows and other sites' hands.
func TestNoPageIsFramedOrReadElsewhere(t *testing.T) {
	t.Parallel()
	b := showcase(t)
	for _, path := range append(everyPage(), "/static/style.css", "/static/live.js", "/login", "/healthz") {
		h := b.get(path).Header()
		for name, want := range map[string]string{"X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "X-Content-Type-Options": "nosniff"} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q; want %q", path, name, h.Get(name), want)
			}
		}
		for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(h.Get("Content-Security-Policy"), part) || strings.Contains(h.Get("Content-Security-Policy"), "unsafe") {
				t.Errorf("%s: the content policy lacks %q or has something unsafe", path, part)
			}
		}
		if h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s may be read by other sites", path)
		}
	}
}

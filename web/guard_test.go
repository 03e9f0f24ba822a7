package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/web"
)

// field returns the value of the first hidden field of a name.
func field(t *testing.T, page, name string) string {
	t.Helper()
	m := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("page has no field %q", name)
	}
	return m[1]
}

// partOf returns the form that posts to a path.
func partOf(t *testing.T, page, path string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, `action="`+path+`"`)
	if !found {
		t.Fatalf("page has no form for %s", path)
	}
	body, _, _ := strings.Cut(rest, "</form>")
	return body
}

// formOf returns the hidden fields of the form that posts to a path, and those
// that may stay empty.
func formOf(t *testing.T, page, path string) url.Values {
	t.Helper()
	form := url.Values{}
	for _, m := range regexp.MustCompile(`type="hidden" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(partOf(t, page, path), -1) {
		form.Set(m[1], m[2])
	}
	for _, m := range regexp.MustCompile(`<textarea[^>]* name="([^"]*)"([^>]*)>([^<]*)<`).FindAllStringSubmatch(partOf(t, page, path), -1) {
		if !strings.Contains(m[2], "required") {
			form.Set(m[1], m[3])
		}
	}
	return form
}

func with(form url.Values, pairs ...string) url.Values {
	out := url.Values{}
	for k, v := range form {
		out[k] = v
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		out.Set(pairs[i], pairs[i+1])
	}
	return out
}

// tamper is one way to send a good form so that it must be refused.
type tamper struct {
	name string
	do   func(r *http.Request, form url.Values) *http.Request
}

func header(name, value string) tamper {
	return tamper{name + ": " + value, func(r *http.Request, _ url.Values) *http.Request {
		r.Header.Set(name, value)
		return r
	}}
}

// origins replaces what the browser says about where the form comes from.
func origins(name, site, origin string) tamper {
	return tamper{name, func(r *http.Request, _ url.Values) *http.Request {
		r.Header.Del("Sec-Fetch-Site")
		r.Header.Del("Origin")
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		return r
	}}
}

func host(name string) tamper {
	return tamper{"host " + name, func(r *http.Request, _ url.Values) *http.Request { r.Host = name; return r }}
}

func body(name string, change func(form url.Values) string) tamper {
	return tamper{name, func(r *http.Request, form url.Values) *http.Request {
		text := change(form)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		return r
	}}
}

func tampers() []tamper {
	return []tamper{
		origins("no origin at all", "", ""), origins("cross-site", "cross-site", "https://evil.example"),
		origins("same site, other port", "same-site", "http://127.0.0.1:9999"), origins("typed address", "none", ""),
		origins("unknown site word", "wherever", ""), origins("null origin", "", "null"), origins("null origin, own site", "same-origin", "null"),
		origins("other origin alone", "", "https://evil.example"), origins("origin with our name in it", "", origin+".evil.example"),
		origins("origin as user name", "", "http://127.0.0.1:8420@evil.example"), origins("https of our name", "", "https://127.0.0.1:8420"),
		origins("our name, other port", "", "http://127.0.0.1:8421"), origins("our name in capitals of a scheme", "", "HTTP://127.0.0.1:8420"),
		origins("localhost for 127.0.0.1", "", "http://localhost:8420"), origins("origin with a slash", "", origin+"/"),
		origins("cross-site without origin", "cross-site", ""), origins("site in capitals", "SAME-ORIGIN", ""),
		host("evil.example"), host("evil.example:8420"), host("127.0.0.1.evil.example:8420"), host("localhost.evil.example"), host(""),
		host("0.0.0.0:8420"), host("127.0.0.2:8420"), host("[::]:8420"), host("2130706433:8420"), host("127.1:8420"), host("127.0.0.1:8420:1"),
		header("Authorization", "Bearer agent-token"), header("Authorization", "Basic QWxpY2U6c2VjcmV0"),
		header("Content-Type", "application/json"), header("Content-Type", "text/plain"), header("Content-Type", "multipart/form-data; boundary=x"), header("Content-Type", ""),
		{"two origins", func(r *http.Request, _ url.Values) *http.Request { r.Header.Add("Origin", origin); return r }},
		{"two sites", func(r *http.Request, _ url.Values) *http.Request {
			r.Header.Add("Sec-Fetch-Site", "same-origin")
			return r
		}},
		{"no cookie", func(r *http.Request, _ url.Values) *http.Request { r.Header.Del("Cookie"); return r }},
		{"two cookies", func(r *http.Request, _ url.Values) *http.Request {
			r.AddCookie(&http.Cookie{Name: "verbatim", Value: strings.Repeat("A", 43)})
			return r
		}},
		{"cookie of somebody else", func(r *http.Request, _ url.Values) *http.Request {
			r.Header.Set("Cookie", "verbatim="+strings.Repeat("A", 43))
			return r
		}},
		{"fields in the address", func(r *http.Request, form url.Values) *http.Request {
			r.URL.RawQuery = form.Encode()
			return r
		}},
		{"GET with fields in the address", func(r *http.Request, form url.Values) *http.Request {
			r.Method, r.URL.RawQuery, r.Body = http.MethodGet, form.Encode(), http.NoBody
			return r
		}},
		{"PUT", func(r *http.Request, _ url.Values) *http.Request { r.Method = http.MethodPut; return r }},
		{"method override", func(r *http.Request, _ url.Values) *http.Request {
			r.Method = http.MethodGet
			r.Header.Set("X-HTTP-Method-Override", "POST")
			return r
		}},
		body("empty", func(url.Values) string { return "" }),
		body("too long", func(f url.Values) string { return with(f, "password", strings.Repeat("x", 20<<10)).Encode() }),
		body("token left out", func(f url.Values) string { g := with(f); g.Del("token"); return g.Encode() }),
		body("token empty", func(f url.Values) string { return with(f, "token", "").Encode() }),
		body("token changed", func(f url.Values) string { return with(f, "token", "A"+f.Get("token")[1:]+"x").Encode() }),
		body("token twice", func(f url.Values) string { return f.Encode() + "&token=" + f.Get("token") }),
		body("field too many", func(f url.Values) string { return with(f, "voter", "person_mallory").Encode() }),
		body("digest left out", func(f url.Values) string { g := with(f); g.Del("digest"); return g.Encode() }),
		body("digest of something else", func(f url.Values) string { return with(f, "digest", strings.Repeat("0", 64)).Encode() }),
		body("digest in capitals", func(f url.Values) string { return with(f, "digest", strings.ToUpper(f.Get("digest"))).Encode() }),
		body("other view claimed", func(f url.Values) string { return with(f, "shown", "all").Encode() }),
		body("password left out", func(f url.Values) string { g := with(f); g.Del("password"); return g.Encode() }),
		body("broken encoding", func(f url.Values) string { return f.Encode() + "&%zz=1" }),
		body("semicolons", func(f url.Values) string { return strings.ReplaceAll(f.Encode(), "&", ";") }),
	}
}

// TestForgedFormsDecideNothing sends a form that would be counted, changed in
// one way at a time.
func TestForgedFormsDecideNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	const path = "/actions/act_1/approve"
	good := with(formOf(t, b.get("/actions/act_1").Body.String(), path), "password", password)
	all := tampers()
	if len(all) < 50 {
		t.Fatalf("only %d ways", len(all))
	}
	for _, way := range all {
		w := httptest.NewRecorder()
		b.site.ServeHTTP(w, way.do(b.request(http.MethodPost, path, good), good))
		if w.Code == http.StatusSeeOther && strings.HasPrefix(w.Header().Get("Location"), "/login") {
			w.Code = http.StatusForbidden // a reading request without a login is led there
		}
		if w.Code < 400 {
			t.Errorf("%s: status %d; want a refusal", way.name, w.Code)
		}
		if n := b.gate.counted(); n != 0 {
			t.Fatalf("%s: the vote was counted", way.name)
		}
	}
	if w := b.post(path, good); w.Code != http.StatusSeeOther || b.gate.counted() != 1 {
		t.Errorf("the untouched form = %d with %d votes; want 303 and one", w.Code, b.gate.counted())
	}
}

func TestFormOfOneActionLoginOrPurposeDoesNotServeAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"), command("act_2", "reboot"))
	page := b.get("/actions/act_1").Body.String()
	approve := with(formOf(t, page, "/actions/act_1/approve"), "password", password)
	reject := with(formOf(t, page, "/actions/act_1/reject"), "password", password)
	for what, r := range map[string]*http.Request{
		"another action":                   b.request(http.MethodPost, "/actions/act_2/approve", approve),
		"approve with the reject token":    b.request(http.MethodPost, "/actions/act_1/approve", reject),
		"reject with the approve token":    b.request(http.MethodPost, "/actions/act_1/reject", with(approve, "reason", "no")),
		"revoke with the approve token":    b.request(http.MethodPost, "/actions/act_1/revoke", with(approve, "reason", "no")),
		"logout token":                     b.request(http.MethodPost, "/actions/act_1/approve", with(approve, "token", field(t, page, "token"))),
		"an unknown action":                b.request(http.MethodPost, "/actions/act_3/approve", approve),
		"a path that only looks the same":  b.request(http.MethodPost, "/actions/act_1%2Fapprove", approve),
		"a path with an encoded separator": b.request(http.MethodPost, "/actions/..%2Factions%2Fact_1/approve", approve),
	} {
		if w := b.send(r); w.Code < 400 {
			t.Errorf("%s: status %d; want a refusal", what, w.Code)
		}
	}
	b.cookie = b.logIn(t, b.alice)
	if w := b.post("/actions/act_1/approve", approve); w.Code != http.StatusBadRequest {
		t.Errorf("a form of another login = %d; want 400", w.Code)
	}
	if n := b.gate.counted(); n != 0 {
		t.Errorf("%d votes were counted", n)
	}
}

func TestPageHasOneAddress(t *testing.T) {
	t.Parallel()
	b := newBench(t, payment("act_1"))
	for name, want := range map[string]int{
		"127.0.0.1:8420": 200, "localhost:8420": 302, "[::1]:8420": 302, "LOCALHOST": 302, "127.0.0.1": 302, "127.0.0.1:1": 302,
		"evil.example": 421, "127.0.0.1.nip.io:8420": 421, "": 421, "127.0.0.2": 421,
	} {
		r := b.request(http.MethodGet, "/actions/act_1?show=all", nil)
		r.Host = name
		w := b.send(r)
		if w.Code != want {
			t.Errorf("host %q = %d; want %d", name, w.Code, want)
		}
		if at := w.Header().Get("Location"); want == 302 && at != origin+"/actions/act_1?show=all" {
			t.Errorf("host %q leads to %q", name, at)
		}
		r = b.request(http.MethodGet, "/healthz", nil)
		if r.Host = name; b.send(r).Code == 200 != (want != 421) {
			t.Errorf("health by the name %q", name)
		}
		r = b.request(http.MethodPost, "/logout", nil)
		if r.Host = name; want != 200 && b.send(r).Code != 421 {
			t.Errorf("a form by the name %q is not refused", name)
		}
	}
}

func TestAddressOfTheNetworkIsReachedByItsNameAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const public = "https://approve.example.com:8443"
	site, err := web.New(web.Config{Gate: b.gate, People: b.accounts, Tools: tools, Origin: public, Now: b.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	login := url.Values{"name": {"Alice"}, "password": {password}, "next": {"/"}}
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{"approve.example.com:8443", public, 303}, {"approve.example.com", "https://approve.example.com", 421},
		{"approve.example.com:8443", "http://approve.example.com:8443", 403}, {"approve.example.com:8443", "http://localhost:7433", 403},
		{"localhost:7433", public, 421}, {"localhost:7433", "http://localhost:7433", 421}, {"127.0.0.1:7433", "", 421},
	} {
		r := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader(login.Encode()))
		r.Host = c.host
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		site.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("host %s, origin %s: %d; want %d", c.host, c.origin, w.Code, c.want)
		}
		cookies := w.Result().Cookies()
		if c.want == 303 && (len(cookies) != 1 || cookies[0].Name != "__Host-verbatim" || !cookies[0].Secure || !cookies[0].HttpOnly) {
			t.Errorf("the cookie is %v", cookies)
		}
	}
}

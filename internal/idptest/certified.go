package idptest

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/needs"
)

// Person is somebody whom a certified provider knows by their subject.
type Person struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups"`
}

// Certified is a provider that we did not write: oidc-provider of
// testdata/npm, in a process of its own under the pinned Node. It has the one
// client of this package, and asks people to sign in and to agree on pages of
// its own.
type Certified struct {
	Issuer   string
	redirect string
	t        testing.TB
	client   *http.Client // one browser: it stays signed in
}

// StartCertified starts a certified provider that ends with the test, or skips
// the test where it is not installed.
func StartCertified(t testing.TB, redirect string, people map[string]Person) *Certified {
	t.Helper()
	script := needs.Script(t, "oidc-provider/package.json") // it must be there
	script = strings.TrimSuffix(script, "node_modules/oidc-provider/package.json") + "oidc.mjs"
	set, err := json.Marshal(map[string]any{"client": Client, "secret": Secret, "redirects": []string{redirect}, "people": people})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(needs.Peer(t, "node"), script, string(set))
	cmd.Env, cmd.Stderr = needs.Env(t), io.Discard
	if testing.Verbose() {
		cmd.Stderr = os.Stderr
	}
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if errIn != nil || errOut != nil {
		t.Fatal(errIn, errOut)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the provider did not start: %v", err)
	}
	c := &Certified{Issuer: strings.TrimSpace(line), redirect: redirect, t: t}
	c.AnotherBrowser()
	return c
}

// AnotherBrowser has the next sign-in come from a browser that nobody has
// signed in with.
func (c *Certified) AnotherBrowser() {
	c.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.client = &http.Client{Jar: jar, Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

var (
	formAction = regexp.MustCompile(`<form[^>]* action="([^"]*)"[^>]*method="post"`)
	formPrompt = regexp.MustCompile(`name="prompt" value="([a-z]*)"`)
)

// SignIn does what a browser does from an address of the provider until it is
// sent back, and returns that address with the pages on which something had to
// be said: "login", "consent".
func (c *Certified) SignIn(address, subject string) (back *url.URL, asked []string) {
	c.t.Helper()
	form, method := url.Values(nil), http.MethodGet
	for range 12 {
		if strings.HasPrefix(address, c.redirect+"?") {
			back, err := url.Parse(address)
			if err != nil {
				c.t.Fatal(err)
			}
			return back, asked
		}
		r, err := http.NewRequestWithContext(c.t.Context(), method, address, strings.NewReader(form.Encode()))
		if err != nil {
			c.t.Fatal(err)
		}
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		var prompt string
		if address, prompt = c.next(r); prompt == "" {
			form, method = nil, http.MethodGet
			continue
		}
		asked = append(asked, prompt)
		form, method = url.Values{"prompt": {prompt}}, http.MethodPost
		if prompt == "login" {
			form.Set("login", subject)
			form.Set("password", "it takes any")
		}
	}
	c.t.Fatal("the provider leads nowhere")
	return nil, nil
}

// next makes one request and returns where its answer leads: to another
// address, or to a form that asks for something.
func (c *Certified) next(r *http.Request) (address, prompt string) {
	c.t.Helper()
	resp, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		c.t.Fatal(err)
	}
	if to, err := resp.Location(); err == nil {
		return to.String(), ""
	}
	action, what := formAction.FindSubmatch(page), formPrompt.FindSubmatch(page)
	if resp.StatusCode != http.StatusOK || action == nil || what == nil {
		c.t.Fatalf("the provider answers %s: %s", resp.Status, page)
	}
	to, err := r.URL.Parse(string(action[1]))
	if err != nil {
		c.t.Fatal(err)
	}
	return to.String(), string(what[1])
}

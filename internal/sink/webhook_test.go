package sink_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/netguard"
	"github.com/seed-de4804fb/verbatim/internal/sink"
)

const hookSecret = "a secret of a webhook, long enough"

// receiver checks signatures as RFC 9421 says, from the request alone.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	ids    []string
	bad    []string
}

var signatureInput = regexp.MustCompile(`^sig1=(\("@method" "@target-uri" "content-type" "content-digest"\);created=(\d+);keyid="hook";alg="hmac-sha256")$`)

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, err := io.ReadAll(q.Body)
	if err != nil {
		r.bad = append(r.bad, err.Error())
	}
	if text := r.check(q, body); text != "" {
		r.bad = append(r.bad, text)
	}
	w.WriteHeader(r.status)
	if r.status != http.StatusOK {
		return
	}
	var batch []struct {
		ID, Source, Type, Subject, SpecVersion string
		Data                                   struct{ ID string }
	}
	if err := json.Unmarshal(body, &batch); err != nil {
		r.bad = append(r.bad, err.Error())
	}
	for _, e := range batch {
		if e.SpecVersion != "1.0" || e.ID != e.Data.ID || e.Source != "verbatim:log" || e.Type == "" {
			r.bad = append(r.bad, fmt.Sprintf("envelope %+v", e))
		}
		r.ids = append(r.ids, e.ID)
	}
}

func (r *receiver) check(q *http.Request, body []byte) string {
	sum := sha256.Sum256(body)
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	if q.Header.Get("Content-Digest") != digest {
		return "the digest is not that of the body"
	}
	found := signatureInput.FindStringSubmatch(q.Header.Get("Signature-Input"))
	if found == nil {
		return "signature input " + q.Header.Get("Signature-Input")
	}
	base := strings.Join([]string{`"@method": ` + q.Method, `"@target-uri": http://` + q.Host + q.URL.RequestURI(),
		`"content-type": ` + q.Header.Get("Content-Type"), `"content-digest": ` + digest, `"@signature-params": ` + found[1]}, "\n")
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write([]byte(base))
	if want := "sig1=:" + base64.StdEncoding.EncodeToString(mac.Sum(nil)) + ":"; q.Header.Get("Signature") != want {
		return "the signature is wrong"
	}
	return ""
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusOK}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func guard(t *testing.T, networks ...string) *netguard.Client {
	t.Helper()
	var opt netguard.Options
	for _, n := range networks {
		opt.Networks = append(opt.Networks, netip.MustParsePrefix(n))
	}
	c, err := netguard.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func hook(t *testing.T, url string, c *netguard.Client) *sink.Webhook {
	t.Helper()
	w, err := sink.NewWebhook(url, "hook", []byte(hookSecret), c, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWebhookGetsSignedCloudEvents(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	for _, path := range []string{"", "/", "/in?a=b%20c&d"} {
		if err := deliver(t, hook(t, r.URL+path, guard(t, "127.0.0.0/8")), "a"+path, "b"+path); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "a/", "b/", "a/in?a=b%20c&d", "b/in?a=b%20c&d"}, r.ids); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(r.bad) > 0 {
		t.Errorf("faults: %v", r.bad)
	}
}

func TestWebhookThatRefusesHasNotTaken(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := hook(t, r.URL+"/secret-path", guard(t, "127.0.0.0/8"))
	for _, status := range []int{302, 400, 429, 500} {
		r.mu.Lock()
		r.status = status
		r.mu.Unlock()
		err := deliver(t, w, "a")
		if err == nil || strings.Contains(err.Error(), "secret-path") || strings.Contains(err.Error(), hookSecret) {
			t.Errorf("%d: error %v", status, err)
		}
	}
	r.Close()
	if err := deliver(t, w, "a"); err == nil || strings.Contains(err.Error(), "secret-path") {
		t.Errorf("gone: error %v", err)
	}
}

func TestWebhookGoesNowhereThatIsNotListed(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	other := hook(t, r.URL, guard(t, "10.0.0.0/8"))
	if err := deliver(t, other, "a"); err == nil {
		t.Error("it went to an address that is not listed")
	}
	if len(r.ids) > 0 {
		t.Errorf("received %v", r.ids)
	}
	for _, bad := range []struct{ url, secret string }{{"http://example.com/", hookSecret}, {"ftp://example.com", hookSecret}, {"https://u:p@example.com", hookSecret}, {"https://example.com", "short"}} {
		if _, err := sink.NewWebhook(bad.url, "hook", []byte(bad.secret), guard(t), time.Now); err == nil {
			t.Errorf("%s with a secret of %d bytes: taken", bad.url, len(bad.secret))
		}
	}
}

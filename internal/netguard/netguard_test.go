package netguard_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/netguard"
)

// local is a server that counts connections, by the address they came to.
type local struct {
	*httptest.Server
	port  string
	conns atomic.Int64
	other atomic.Int64 // to another address than 127.0.0.1
}

func serve(t *testing.T, secure bool, h http.HandlerFunc) *local {
	t.Helper()
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &local{Server: httptest.NewUnstartedServer(h)}
	l.Listener.Close()
	l.Listener = listener
	l.Config.ErrorLog = log.New(io.Discard, "", 0)
	l.Config.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateNew {
			l.conns.Add(1)
			if !strings.HasPrefix(c.LocalAddr().String(), "127.0.0.1:") {
				l.other.Add(1)
			}
		}
	}
	if secure {
		l.StartTLS()
	} else {
		l.Start()
	}
	t.Cleanup(l.Close)
	_, l.port, _ = net.SplitHostPort(listener.Addr().String())
	l.URL = "http://127.0.0.1:" + l.port
	return l
}

func say(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(text)) }
}

func client(t *testing.T, opt netguard.Options, lookup map[string]string) *netguard.Client {
	t.Helper()
	c, err := netguard.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	c.SetLookup(func(_ context.Context, host string) (out []netip.Addr, err error) {
		for a := range strings.FieldsSeq(lookup[host]) {
			out = append(out, netip.MustParseAddr(a))
		}
		if out == nil { // the worst answer that a name system could give
			out = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
		}
		return out, nil
	})
	return c
}

func networks(list ...string) (out []netip.Prefix) {
	for _, p := range list {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

// inner are spellings of addresses that are not public. A name that is no
// address is looked up, and the name system of these tests then answers with
// the local server.
var inner = []string{
	"127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "127.255.255.255", "2130706433", "0x7f000001", "0x7f.1", "0x7f.0.0.1", "0177.0.0.1",
	"0177.1", "017700000001", "127.000.000.001", "127.0.0.1.", "localhost", "LOCALHOST", "localhost.", "foo.localhost", "ip6-localhost",
	"0", "0.0.0.0", "0.0.0.1", "0x0", "00.00.00.00", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::ffff:127.0.0.1]",
	"[::ffff:7f00:1]", "[::FFFF:127.0.0.1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]", "[64:ff9b::127.0.0.1]",
	"[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:7f00:1::1]", "[2001:0:7f00:1::]", "[fe80::1]", "[fe80::1%25lo]",
	"[febf::1]", "[fec0::1]", "[fc00::1]", "[fd00::1]", "[fd00:ec2::254]", "[ff02::1]", "[ff0e::1]", "[100::1]", "[2001:db8::1]",
	"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.1.1", "169.254.169.254", "[::ffff:169.254.169.254]",
	"[::ffff:a9fe:a9fe]", "2852039166", "0xa9fea9fe", "0xa9.254.169.254", "0251.0376.0251.0376", "169.254.1.1", "168.63.129.16",
	"metadata", "metadata.google.internal", "instance-data", "100.64.0.1", "100.100.100.200", "192.0.0.1", "192.0.0.192", "192.0.2.1",
	"198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
	"127.0.0.1.nip.example", "rebound.example", "\uff11\uff12\uff17.0.0.1", "\u2460\u2461\u2466.0.0.1",
}

func TestNoSpellingOfAnInnerAddressIsReached(t *testing.T) {
	t.Parallel()
	if len(inner) < 60 {
		t.Errorf("only %d spellings", len(inner))
	}
	l := serve(t, false, say("secret"))
	plain := client(t, netguard.Options{Networks: networks("8.8.8.8/32")}, nil)
	for _, host := range inner {
		for scheme, c := range map[string]*netguard.Client{"https": client(t, netguard.Options{}, nil), "http": plain} {
			data, err := c.Get(t.Context(), scheme+"://"+host+":"+l.port+"/")
			if !errors.Is(err, netguard.ErrForbidden) && !errors.Is(err, netguard.ErrURL) {
				t.Errorf("%s://%s: %q, %v", scheme, host, data, err)
			}
		}
	}
	if n := l.conns.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func TestListedNetworkIsReached(t *testing.T) {
	t.Parallel()
	l := serve(t, false, say("rows"))
	c := client(t, netguard.Options{Networks: networks("127.0.0.1/32")}, nil)
	for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "tables.example"} {
		if data, err := c.Get(t.Context(), "http://"+host+":"+l.port+"/"); err != nil || string(data) != "rows" {
			t.Errorf("%s: %q, %v", host, data, err)
		}
	}
	if _, err := c.Get(t.Context(), "http://127.0.0.2:"+l.port); !errors.Is(err, netguard.ErrForbidden) {
		t.Errorf("the neighbour: %v", err)
	}
}

func TestPlainHTTPReachesListedNetworksOnly(t *testing.T) {
	t.Parallel()
	c := client(t, netguard.Options{Networks: networks("10.0.0.0/8")}, map[string]string{"public.example": "8.8.8.8"})
	for _, at := range []string{"http://public.example/", "http://8.8.8.8/"} {
		if _, err := c.Get(t.Context(), at); !errors.Is(err, netguard.ErrForbidden) {
			t.Errorf("%s: %v", at, err)
		}
	}
	for _, at := range []string{"http://8.8.8.8/", "ftp://8.8.8.8/", "file:///etc/passwd", "//8.8.8.8/", "8.8.8.8", "", "https://", "https:///x",
		"https://u@8.8.8.8/", "https://u:p@8.8.8.8/", "https://8.8.8.8/#x", "gopher://8.8.8.8/", "unix:///run/x.sock", "https://[::1", "https://a b/"} {
		if err := client(t, netguard.Options{}, nil).CheckURL(at); !errors.Is(err, netguard.ErrURL) {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func TestNameThatAnswersDifferentlyTheSecondTimeGainsNothing(t *testing.T) {
	t.Parallel()
	l := serve(t, false, say("rows"))
	c := client(t, netguard.Options{Networks: networks("127.0.0.1/32")}, nil)
	var asked atomic.Int64
	c.SetLookup(func(context.Context, string) ([]netip.Addr, error) {
		if asked.Add(1)%2 == 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.2")}, nil
	})
	for i := range 20 {
		before := asked.Load()
		_, err := c.Get(t.Context(), "http://rebound.example:"+l.port+"/")
		if asked.Load() != before+1 {
			t.Error("it asked for the address more than once")
		}
		if want := i%2 == 0; (err == nil) != want {
			t.Errorf("fetch %d: %v", i, err)
		}
	}
	if l.other.Load() != 0 || l.conns.Load() != 10 {
		t.Errorf("%d connections, %d to the other address", l.conns.Load(), l.other.Load())
	}
}

func TestOneForbiddenAddressForbidsTheName(t *testing.T) {
	t.Parallel()
	l := serve(t, false, say("rows"))
	c := client(t, netguard.Options{Networks: networks("127.0.0.1/32")}, map[string]string{
		"first.example": "10.0.0.1 127.0.0.1", "last.example": "127.0.0.1 169.254.169.254", "six.example": "127.0.0.1 ::1"})
	for _, host := range []string{"first.example", "last.example", "six.example"} {
		if _, err := c.Get(t.Context(), "http://"+host+":"+l.port+"/"); !errors.Is(err, netguard.ErrForbidden) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if l.conns.Load() != 0 {
		t.Errorf("%d connections", l.conns.Load())
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	goal := serve(t, false, say("secret"))
	for _, status := range []int{300, 301, 302, 303, 304, 307, 308} {
		l := serve(t, false, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:"+goal.port+"/")
			w.WriteHeader(status)
		})
		c := client(t, netguard.Options{Networks: networks("127.0.0.0/8")}, nil)
		if _, err := c.Get(t.Context(), l.URL); err == nil || !errors.Is(err, netguard.ErrRedirect) && status != 304 {
			t.Errorf("%d: %v", status, err)
		}
	}
	if goal.conns.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

func TestAnswersThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		want   error
	}{
		"not found":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, netguard.ErrStatus},
		"no content":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, netguard.ErrStatus},
		"server error": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, netguard.ErrStatus},
		"too long":     {say(strings.Repeat("x", 101)), netguard.ErrTooLong},
	} {
		l := serve(t, false, c.handle)
		g := client(t, netguard.Options{Networks: networks("127.0.0.0/8"), MaxBytes: 100}, nil)
		if data, err := g.Get(t.Context(), l.URL+"/?key=s3cret"); !errors.Is(err, c.want) || data != nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestServerThatNeverEndsIsLeft(t *testing.T) {
	t.Parallel()
	l := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	c := client(t, netguard.Options{Networks: networks("127.0.0.0/8"), Timeout: 50 * time.Millisecond}, nil)
	if _, err := c.Get(t.Context(), l.URL+"/?key=s3cret"); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

func TestHTTPSNeedsACertificateThatHolds(t *testing.T) {
	t.Parallel()
	l := serve(t, true, say("rows"))
	roots := x509.NewCertPool()
	roots.AddCert(l.Certificate())
	known := client(t, netguard.Options{Networks: networks("127.0.0.1/32"), Roots: roots}, nil)
	if data, err := known.Get(t.Context(), "https://example.com:"+l.port); err != nil || string(data) != "rows" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := known.Get(t.Context(), "https://another.example:"+l.port); err == nil {
		t.Error("another name was accepted")
	}
	unknown := client(t, netguard.Options{Networks: networks("127.0.0.1/32")}, nil)
	if _, err := unknown.Get(t.Context(), "https://example.com:"+l.port); err == nil {
		t.Error("an unknown authority was accepted")
	}
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	proxy, l := serve(t, false, say("from the proxy")), serve(t, false, say("rows"))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	c := client(t, netguard.Options{Networks: networks("127.0.0.1/32")}, nil)
	if data, err := c.Get(t.Context(), "http://tables.example:"+l.port); err != nil || string(data) != "rows" || proxy.conns.Load() != 0 {
		t.Errorf("%q, %v, %d connections", data, err, proxy.conns.Load())
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]netguard.Options{
		"every IPv4 address": {Networks: networks("0.0.0.0/0")},
		"every IPv6 address": {Networks: networks("::/0")},
		"mapped network":     {Networks: networks("::ffff:10.0.0.0/104")},
		"no network":         {Networks: []netip.Prefix{{}}},
		"long":               {Timeout: time.Hour},
		"negative":           {Timeout: -1},
		"large":              {MaxBytes: 1 << 40},
	} {
		if _, err := netguard.New(opt); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestSecretInAHeaderGoesOverHTTPSOnly(t *testing.T) {
	t.Parallel()
	var seen atomic.Value
	h := func(w http.ResponseWriter, r *http.Request) { seen.Store(r.Header.Get("X-Key")) }
	secure, plain := serve(t, true, h), serve(t, false, h)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	c := client(t, netguard.Options{Networks: networks("127.0.0.1/32"), Roots: roots, Header: netguard.Header{Name: "X-Key", Value: "geheim"}}, nil)
	if _, err := c.Get(t.Context(), "https://127.0.0.1:"+secure.port); err != nil || seen.Load() != "geheim" {
		t.Errorf("%v, %v", seen.Load(), err)
	}
	if _, err := c.Get(t.Context(), "http://127.0.0.1:"+plain.port); !errors.Is(err, netguard.ErrSecret) || plain.conns.Load() != 0 {
		t.Errorf("%v after %d connections", err, plain.conns.Load())
	}
	for _, bad := range []netguard.Header{
		{Name: "X-Key"}, {Value: "v"}, {Name: "X Key", Value: "v"}, {Name: "X:Key", Value: "v"}, {Name: "Host", Value: "v"},
		{Name: "X-Key", Value: "v\r\nX: y"}, {Name: "X-Key", Value: "v\x00"}, {Name: "X-Key", Value: " v"}, {Name: "X-Key", Value: "\u00e9"},
		{Name: "X-Key", Value: strings.Repeat("v", 9000)},
	} {
		if _, err := netguard.New(netguard.Options{Header: bad}); !errors.Is(err, netguard.ErrSecret) || strings.Contains(err.Error(), "v\r") {
			t.Errorf("%q: %v", bad.Name, err)
		}
	}
}

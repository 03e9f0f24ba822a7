package daemon_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

// body reads a page, or says why it cannot.
func body(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// hasIPv6 reports whether this machine has ::1 at all.
func hasIPv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	return err == nil && l.Close() == nil
}

func TestPageAnswersAtBothLoopbackAddresses(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"127.0.0.1:0", "[::1]:0"} {
		if !hasIPv6() && listen == "[::1]:0" {
			continue
		}
		r := start(t, func(c *daemon.Config) { c.Listen = listen })
		u, err := url.Parse(r.client.State.Page)
		if err != nil || u.Hostname() != "localhost" {
			t.Fatalf("page %s, %v", r.client.State.Page, err)
		}
		for _, host := range []string{"127.0.0.1", "::1"} {
			if host == "::1" && !hasIPv6() {
				continue
			}
			if got := body(t, "http://"+net.JoinHostPort(host, u.Port())); got != "the page" {
				t.Errorf("listening on %s, %s answers %q", listen, host, got)
			}
		}
	}
}

func TestPortThatSomebodyElseHasAtTheOtherLoopbackAddressIsNotUsed(t *testing.T) {
	t.Parallel()
	if !hasIPv6() {
		return // there is no other address
	}
	taken, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	r := start(t, func(c *daemon.Config) { c.Listen = "127.0.0.1:" + port })
	if strings.HasSuffix(r.client.State.Page, ":"+port) {
		t.Errorf("the page is at %s, where somebody else answers, too", r.client.State.Page)
	}
	if got := body(t, r.client.State.Page); got != "the page" {
		t.Errorf("the page answers %q", got)
	}
}

func TestPageWithAnOriginTakesNoOtherPort(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *daemon.Config) { c.Origin = "https://approve.example.com" })
	if r.client.State.Page != "https://approve.example.com" {
		t.Errorf("page %s", r.client.State.Page)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	home := config.Home(t.TempDir())
	lock, err := daemon.TakeLock(home)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Free()
	cfg := daemon.Config{Home: home, Listen: taken.Addr().String(), Origin: "https://approve.example.com", Tenant: "acme", Gate: r.gate.Gate,
		Log: slog.New(slog.DiscardHandler), Pages: func(string) (http.Handler, error) { return nil, errors.New("not asked for") }}
	if err := daemon.Run(context.Background(), lock, cfg); err == nil || !strings.Contains(err.Error(), "open the page") {
		t.Errorf("error %v; want that the page cannot be opened", err)
	}
}

func TestPageSpeaksTLSWithItsCertificate(t *testing.T) {
	t.Parallel()
	other := httptest.NewTLSServer(http.NotFoundHandler()) // has a certificate for example.com
	defer other.Close()
	port := freePort(t)
	start(t, func(c *daemon.Config) {
		c.Listen, c.Origin, c.TLS = "127.0.0.1:"+port, "https://example.com:"+port, other.TLS.Clone()
	})
	client := other.Client()
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
	}
	resp, err := client.Get("https://example.com:" + port)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "the page" {
		t.Errorf("%q, %v", text, err)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

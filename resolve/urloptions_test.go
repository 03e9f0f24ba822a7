package resolve_test

import (
	"net/netip"
	"testing"

	"github.com/seed-de4804fb/verbatim/resolve"
)

func TestURLOptionsDeclareWhatIsAccepted(t *testing.T) {
	t.Parallel()
	networks := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32")}
	hosts := urls(t, resolve.URLOptions{Hosts: []string{"Example.com", "*.b\u00fccher.example", "localhost", "0x7f.1", "[::1]"}, Networks: networks})
	inner := urls(t, resolve.URLOptions{Networks: networks})
	ports := urls(t, resolve.URLOptions{Ports: []uint16{8443}, Schemes: []string{"https", "wss"}})
	const unresolved = "target_unresolved /value"
	for _, c := range []struct {
		by         resolve.Resolver
		text, want string
	}{
		{hosts, "https://EXAMPLE.com/", ""},
		{hosts, "https://a.xn--bcher-kva.example/", ""},
		{hosts, "https://a.b.b\u00fccher.example/", ""},
		{hosts, "https://b\u00fccher.example/", unresolved},
		{hosts, "https://evilb\u00fccher.example/", unresolved},
		{hosts, "https://www.example.com/", unresolved},
		{hosts, "https://example.com.evil.example/", unresolved},
		{hosts, "https://8.8.8.8/", unresolved},
		{hosts, "http://localhost:8080/", ""},
		{hosts, "http://127.0.0.1/", ""},
		{hosts, "http://[::ffff:127.0.0.1]/", ""},
		{hosts, "http://127.0.0.2/", unresolved},
		{hosts, "http://[0:0::1]/", ""},
		{hosts, "http://10.1.2.3/", ""},
		{inner, "http://10.1.255.255/", ""},
		{inner, "http://[fd00:1::7]/", ""},
		{inner, "http://10.2.0.1/", unresolved},
		{inner, "http://[fd00:2::7]/", unresolved},
		{inner, "https://8.8.8.8/", ""},
		{inner, "https://example.com/", ""},
		{inner, "http://localhost/", unresolved},
		{ports, "https://example.com:8443/", ""},
		{ports, "https://example.com/", ""},
		{ports, "wss://example.com:443/", ""},
		{ports, "https://example.com:8080/", unresolved},
		{ports, "http://example.com/", "url /value"},
	} {
		got := ""
		if _, err := said(t, c.by, c.text); err != nil {
			got = refusal(t, err)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestURLOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]resolve.URLOptions{
		"unknown scheme":     {Schemes: []string{"file"}},
		"upper-case scheme":  {Schemes: []string{"HTTPS"}},
		"empty host":         {Hosts: []string{""}},
		"every host":         {Hosts: []string{"*"}},
		"star in the middle": {Hosts: []string{"a.*.example.com"}},
		"host with scheme":   {Hosts: []string{"https://example.com"}},
		"host with port":     {Hosts: []string{"example.com:80"}},
		"below an address":   {Hosts: []string{"*.127.0.0.1"}},
		"look-alike":         {Hosts: []string{"ex\u0430mple.com"}},
		"port zero":          {Ports: []uint16{0}},
		"no network":         {Networks: []netip.Prefix{{}}},
		"bits behind a mask": {Networks: []netip.Prefix{netip.MustParsePrefix("10.1.2.3/16")}},
		"IPv4 within IPv6":   {Networks: []netip.Prefix{netip.MustParsePrefix("::ffff:10.0.0.0/104")}},
	} {
		if _, err := resolve.NewURL(opt); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	versions := map[string]bool{}
	for _, opt := range []resolve.URLOptions{{}, {Schemes: []string{"https"}}, {Hosts: []string{"example.com"}}, {Ports: []uint16{8443}},
		{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}} {
		a, err := answerTo(t, urls(t, opt), `{"value":"https://example.com/"}`)
		if err != nil {
			t.Fatal(err)
		}
		versions[a.Version] = true
	}
	if len(versions) != 5 {
		t.Errorf("versions do not tell configurations apart: %v", versions)
	}
}

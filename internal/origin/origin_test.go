package origin_test

import (
	"errors"
	"testing"

	"github.com/seed-de4804fb/verbatim/internal/origin"
)

func TestOriginsThatAreGood(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		host          string
		secure, named bool
	}{
		"https://approve.example.com":      {"approve.example.com", true, true},
		"https://approve.example.com:8443": {"approve.example.com:8443", true, true},
		"http://localhost:7433":            {"localhost:7433", false, true},
		"http://127.0.0.1:7433":            {"127.0.0.1:7433", false, false},
		"http://[::1]:7433":                {"[::1]:7433", false, false},
		"https://192.0.2.7":                {"192.0.2.7", true, false},
		"https://[2001:db8::1]:8443":       {"[2001:db8::1]:8443", true, false},
	} {
		o, err := origin.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if o.String() != text || o.Host() != want.host || o.Secure() != want.secure || o.Named() != want.named {
			t.Errorf("%s: %q, host %q, secure %v, named %v", text, o.String(), o.Host(), o.Secure(), o.Named())
		}
	}
	if zero := (origin.Origin{}); zero.String() != "" || zero.Secure() || zero.Named() {
		t.Error("the zero origin is one")
	}
}

func TestOriginsThatBrowsersWriteInAnotherWayAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "approve.example.com", "//approve.example.com", "https://", "https://:8443", "ftp://approve.example.com", "javascript:alert(1)",
		"https://approve.example.com/", "https://approve.example.com/page", "https://approve.example.com?x", "https://approve.example.com#x",
		"https://user@approve.example.com", "https://Approve.example.com", "HTTPS://approve.example.com", "https://approve.example.com:443",
		"http://localhost:80", "https://approve.example.com:", "https://approve.example.com:0", "https://approve.example.com:08443",
		"https://approve.example.com:99999", "https://approve.example.com.", "https://*.example.com", "https://a b", "https://prüfer.example.com",
		"https://approve.example.com%00", "http://approve.example.com", "http://127.0.0.2:7433", "http://0.0.0.0:7433", "http://localhost.example.com", " https://a",
	} {
		if o, err := origin.Parse(text); !errors.Is(err, origin.ErrOrigin) {
			t.Errorf("%q is read as %q, %v", text, o.String(), err)
		}
	}
}

func TestOnlyNamesOfThisMachineAreLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "localhost:1": true, "127.0.0.1": true, "127.0.0.1:1": true, "[::1]": true, "[::1]:1": true, "::1": true,
		"": false, "localhost.evil.example": false, "127.0.0.2": false, "0.0.0.0": false, "127.0.0.1.nip.io": false, "127.0.0.1:1:1": false,
	} {
		if got := origin.Loopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

package resolve_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/resolve"
)

func urls(t testing.TB, opt resolve.URLOptions) *resolve.URL {
	t.Helper()
	u, err := resolve.NewURL(opt)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestURLHasOneSpelling(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"as it is", "https://example.com/a/b?c=d", "https://example.com/a/b?c=d"},
		{"upper-case scheme and host", "HTTPS://EXAMPLE.COM/A", "https://example.com/A"},
		{"no path", "https://example.com", "https://example.com/"},
		{"query behind the host", "https://example.com?a=b", "https://example.com/?a=b"},
		{"empty query is a query", "https://example.com/?", "https://example.com/?"},
		{"default port", "https://example.com:443/", "https://example.com/"},
		{"default port of http", "http://example.com:80/", "http://example.com/"},
		{"other port", "https://example.com:8443/", "https://example.com:8443/"},
		{"port of the other scheme", "http://example.com:443/", "http://example.com:443/"},
		{"port with zeros", "https://example.com:00443/", "https://example.com/"},
		{"empty port", "https://example.com:/", "https://example.com/"},
		{"dot of the root", "https://example.com./a", "https://example.com/a"},
		{"fragment", "https://example.com/a#b", "https://example.com/a"},
		{"fragment with a URL", "https://example.com#@evil.example/", "https://example.com/"},
		{"fragment with a question", "https://example.com/#?a", "https://example.com/"},
		{"dot segments", "https://example.com/a/./b/../c", "https://example.com/a/c"},
		{"dot segments at the end", "https://example.com/a/b/..", "https://example.com/a/"},
		{"dot segment alone", "https://example.com/.", "https://example.com/"},
		{"above the root", "https://example.com/../../a", "https://example.com/a"},
		{"encoded dot segments", "https://example.com/a/%2e%2E/b", "https://example.com/b"},
		{"half encoded dot segments", "https://example.com/a/.%2e/b", "https://example.com/b"},
		{"three dots are a name", "https://example.com/a/.../b", "https://example.com/a/.../b"},
		{"empty segments are segments", "https://example.com//a//b", "https://example.com//a//b"},
		{"encoded letters", "https://example.com/%61%7E%2D", "https://example.com/a~-"},
		{"digits of encoding in upper case", "https://example.com/%c3%a9%3f", "https://example.com/%C3%A9%3F"},
		{"raw letters", "https://example.com/\u00e9", "https://example.com/%C3%A9"},
		{"what must be encoded", `https://example.com/"<>^|{}[]` + "`", "https://example.com/%22%3C%3E%5E%7C%7B%7D%5B%5D%60"},
		{"what may stand raw stays as it is", "https://example.com/!$&'()*+,;=:@", "https://example.com/!$&'()*+,;=:@"},
		{"what was encoded stays so", "https://example.com/%21%24%26%3B%40", "https://example.com/%21%24%26%3B%40"},
		{"encoded slash is no slash", "https://example.com/group%2fname", "https://example.com/group%2Fname"},
		{"encoded percent", "https://example.com/100%25", "https://example.com/100%25"},
		{"query in full", "https://example.com/?a[]=%31&b=c%20d+e&f=/?x", "https://example.com/?a%5B%5D=1&b=c%20d+e&f=/?x"},
		{"lines in a query", "https://example.com/?text=a%0D%0Ab", "https://example.com/?text=a%0D%0Ab"},
		{"URL in a query", "https://example.com/?to=https://evil.example/", "https://example.com/?to=https://evil.example/"},
		{"at sign in the path", "https://example.com/@user", "https://example.com/@user"},
		{"IDNA", "https://b\u00fccher.example/", "https://xn--bcher-kva.example/"},
		{"IDNA decomposed, in upper case", "https://BU\u0308CHER.example/", "https://xn--bcher-kva.example/"},
		{"IDNA in Punycode", "https://XN--bcher-kva.example/", "https://xn--bcher-kva.example/"},
		{"IDNA, encoded", "https://b%C3%BCcher.example/", "https://xn--bcher-kva.example/"},
		{"sharp s stays", "https://fa\u00df.example/", "https://xn--fa-hia.example/"},
		{"full-width letters", "https://ｅｘａｍｐｌｅ．ｃｏｍ/", "https://example.com/"},
		{"ideographic full stop", "https://example\u3002com/", "https://example.com/"},
		{"encoded letters in the host", "https://ex%61mple%2Ecom/", "https://example.com/"},
		{"underscore", "https://my_host.example.com/", "https://my_host.example.com/"},
		{"hyphens in third place", "https://r3---sn-apo3qvuoxuxbt-j5pe.example.com/", "https://r3---sn-apo3qvuoxuxbt-j5pe.example.com/"},
		{"public address", "https://8.8.8.8/", "https://8.8.8.8/"},
		{"public address in hexadecimal", "https://0x8.0X8.0x0808/", "https://8.8.8.8/"},
		{"public address in octal", "https://010.8.8.8/", "https://8.8.8.8/"},
		{"public address as a number", "https://134744072/", "https://8.8.8.8/"},
		{"public address with a dot", "https://8.8.8.8./", "https://8.8.8.8/"},
		{"public address in full-width digits", "https://８.８.８.８/", "https://8.8.8.8/"},
		{"public IPv6", "https://[2606:4700:4700:0:0::1111]:443/", "https://[2606:4700:4700::1111]/"},
		{"public IPv6 in upper case", "https://[2A00:1450::A]/", "https://[2a00:1450::a]/"},
		{"IPv4 within IPv6", "https://[::ffff:8.8.8.8]/", "https://8.8.8.8/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := said(t, urls(t, resolve.URLOptions{}), c.text)
			if err != nil || got != c.want {
				t.Fatalf("got %s, %v, want %s", got, err, c.want)
			}
			if again, err := said(t, urls(t, resolve.URLOptions{}), got); err != nil || again != got {
				t.Errorf("%s is not its own answer: %s, %v", got, again, err)
			}
		})
	}
}

func TestURLRefuses(t *testing.T) {
	t.Parallel()
	const bad, inner = "url /value", "target_unresolved /value"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", bad},
		{"no scheme", "example.com/a", bad},
		{"no host", "https:///a", bad},
		{"host alone", "//example.com/", bad},
		{"one slash", "https:/example.com/", bad},
		{"no slash", "https:example.com", bad},
		{"three slashes", "https:///example.com/", bad},
		{"backslashes", `https:\\example.com\a`, bad},
		{"backslash before an at sign", `https://example.com\@evil.example/`, bad},
		{"space before", " https://example.com/", bad},
		{"space behind", "https://example.com/ ", bad},
		{"space in the path", "https://example.com/a b", bad},
		{"space in the host", "https://exa mple.com/", bad},
		{"tab in the scheme", "ht\ttps://example.com/", bad},
		{"line in the host", "https://example.com\n.evil.example/", bad},
		{"line in the path", "https://example.com/a\r\nHost: evil.example", bad},
		{"NUL", "https://example.com\x00.evil.example/", bad},
		{"C1 control", "https://example.com/\u0085", bad},
		{"script", "javascript:alert(1)", bad},
		{"script with slashes", "javascript://example.com/%0aalert(1)", bad},
		{"data", "data:text/html,x", bad},
		{"file", "file:///etc/passwd", bad},
		{"gopher", "gopher://127.0.0.1:6379/_x", bad},
		{"undeclared scheme", "ftp://example.com/", bad},
		{"scheme of look-alikes", "http\u0455://example.com/", bad},
		{"user", "https://user@example.com/", bad},
		{"user and password", "https://user:pass@example.com/", bad},
		{"empty user", "https://@example.com/", bad},
		{"host as a user", "https://example.com@evil.example/", bad},
		{"host and port as a user", "https://example.com:443@evil.example/", bad},
		{"two at signs", "https://a@b@evil.example/", bad},
		{"encoded at sign", "https://example.com%40evil.example/", bad},
		{"encoded slash in the host", "https://example.com%2f.evil.example/", bad},
		{"encoded NUL in the host", "https://example.com%00.evil.example/", bad},
		{"full-width slash in the host", "https://example.com\uff0fevil.example/", bad},
		{"account sign in the host", "https://example.c\u2100.evil.example/", bad},
		{"question mark look-alike", "https://example.com\uff1f.evil.example/", bad},
		{"two dots in the host", "https://example..com/", bad},
		{"two dots behind the host", "https://example.com../", bad},
		{"dot alone", "https://./", bad},
		{"wildcard", "https://*.example.com/", bad},
		{"comma", "https://example.com,evil.example/", bad},
		{"long label", "https://" + strings.Repeat("a", 64) + ".com/", bad},
		{"long name", "https://" + strings.Repeat("abcdefg.", 32) + "com/", bad},
		{"broken Punycode", "https://xn--a\u00e9.com/", bad},
		{"Punycode that is not in ASCII", "https://xn--bcher-kva\u00e9--.example/", bad},
		{"Punycode that is not in ASCII, hidden", "https://X\uff2e-\u00ad-bcher-kva\u00e9--\u3002example/", bad},
		{"Punycode of ASCII", "https://xn--example-.com/", bad},
		{"C01 mixed host", "https://ex\u0430mple.com/", bad},
		{"C01 host of look-alikes", "https://\u0430\u0440\u0440\u04cf\u0435.com/", bad},
		{"C01 the same in Punycode", "https://xn--80ak6aa92e.com/", bad},
		{"port zero", "https://example.com:0/", bad},
		{"port too large", "https://example.com:65536/", bad},
		{"port with a sign", "https://example.com:+443/", bad},
		{"port as a name", "https://example.com:https/", bad},
		{"two ports", "https://example.com:443:80/", bad},
		{"encoded port", "https://example.com%3a80/", bad},
		{"percent alone", "https://example.com/100%", bad},
		{"percent without digits", "https://example.com/%zz", bad},
		{"percent without digits in the query", "https://example.com/?a=%u0041", bad},
		{"encoded NUL", "https://example.com/a%00.png", bad},
		{"encoded NUL in the query", "https://example.com/?a=%00", bad},
		{"encoded line in the path", "https://example.com/%0d%0aHost:%20evil", bad},
		{"overlong dots", "https://example.com/%c0%ae%c0%ae/a", bad},
		{"half a character", "https://example.com/%c3", bad},
		{"half a character in the query", "https://example.com/?%ff", bad},
		{"dots behind an encoded slash", "https://example.com/a%2f..%2f..%2fetc", bad},
		{"dots encoded twice", "https://example.com/%252e%252e/a", bad},
		{"dots encoded three times", "https://example.com/%25252e%25252e/a", bad},
		{"endless encoding", "https://example.com/%" + strings.Repeat("25", 1000), bad},
		{"encoded backslash", "https://example.com/a%5c..%5cb", bad},
		{"dots with a parameter", "https://example.com/a/..;/b", bad},
		{"dots of one dot leader", "https://example.com/\u2024\u2024/a", bad},
		{"two dot leader", "https://example.com/\u2025/a", bad},
		{"full-width dots", "https://example.com/\uff0e\uff0e/a", bad},
		{"endless", "https://example.com/" + strings.Repeat("a", 8192), bad},
		{"endless when encoded", "https://example.com/" + strings.Repeat("\u00e9", 2000), bad},
		{"broken IPv6", "https://[::1/", bad},
		{"IPv6 without brackets", "https://::1/", bad},
		{"IPv6 with a zone", "https://[fe80::1%25eth0]/", bad},
		{"IPv4 in brackets", "https://[127.0.0.1]/", bad},
		{"text behind brackets", "https://[::1].evil.example/", bad},
		{"part beyond 255", "https://256.0.0.1/", bad},
		{"number beyond 2^32", "https://4294967296/", bad},
		{"five parts", "https://1.2.3.4.5/", bad},
		{"octal with 8", "https://08.8.8.8/", bad},
		{"name that ends in a number", "https://example.1/", bad},
		{"name that ends in a hexadecimal number", "https://example.0x1/", bad},

		{"loopback", "http://127.0.0.1/", inner},
		{"loopback by a short form", "http://127.1/", inner},
		{"loopback in hexadecimal", "http://0x7f.1/", inner},
		{"loopback in one hexadecimal number", "http://0x7f000001/", inner},
		{"loopback in octal", "http://0177.0.0.1/", inner},
		{"loopback as a number", "http://2130706433/", inner},
		{"loopback with a dot", "http://127.0.0.1./", inner},
		{"loopback with encoded dots", "http://127%2e0%2e0%2e1/", inner},
		{"loopback in circled digits", "http://\u2460\u2461\u2466.0.0.1/", inner},
		{"loopback in full-width digits", "http://１２７。０。０。１/", inner},
		{"loopback in IPv6", "http://[::1]/", inner},
		{"loopback within IPv6", "http://[::ffff:127.0.0.1]/", inner},
		{"loopback within IPv6 in hexadecimal", "http://[::ffff:7f00:1]/", inner},
		{"loopback in the old IPv6 form", "http://[::127.0.0.1]/", inner},
		{"loopback by translation", "http://[64:ff9b::7f00:1]/", inner},
		{"loopback by 6to4", "http://[2002:7f00:1::]/", inner},
		{"Teredo", "http://[2001:0:7f00:1::]/", inner},
		{"this host", "http://0.0.0.0/", inner},
		{"zero", "http://0/", inner},
		{"zero in hexadecimal", "http://0x/", inner},
		{"this host in IPv6", "http://[::]/", inner},
		{"private", "http://10.0.0.1/", inner},
		{"private 172", "http://172.31.255.255/", inner},
		{"private 192", "http://192.168.1.1/", inner},
		{"shared", "http://100.64.0.1/", inner},
		{"link-local", "http://169.254.1.1/", inner},
		{"link-local IPv6", "http://[fe80::1]/", inner},
		{"unique local IPv6", "http://[fd00::1]/", inner},
		{"multicast", "http://224.0.0.1/", inner},
		{"multicast IPv6", "http://[ff02::1]/", inner},
		{"broadcast", "http://255.255.255.255/", inner},
		{"documentation", "http://192.0.2.1/", inner},
		{"documentation IPv6", "http://[2001:db8::1]/", inner},
		{"metadata", "http://169.254.169.254/latest/meta-data/", inner},
		{"metadata as a number", "http://2852039166/", inner},
		{"metadata in IPv6", "http://[fd00:ec2::254]/", inner},
		{"metadata of another cloud", "http://100.100.100.200/", inner},
		{"metadata of a third cloud", "http://168.63.129.16/", inner},
		{"metadata by name", "http://metadata.google.internal/", inner},
		{"localhost", "http://localhost/", inner},
		{"localhost with a dot", "http://LOCALHOST./", inner},
		{"localhost in full width", "http://ｌｏｃａｌｈｏｓｔ/", inner},
		{"below localhost", "http://a.localhost/", inner},
		{"mDNS", "http://printer.local/", inner},
		{"one label", "http://intranet/", inner},
		{"one label and a port", "http://redis:6379/", inner},
		{"cluster", "http://kubernetes.default.svc.cluster.local/", inner},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := said(t, urls(t, resolve.URLOptions{}), c.text)
			if err == nil {
				t.Fatalf("resolved to %s", got)
			}
			if r := refusal(t, err); r != c.want {
				t.Errorf("got %s, want %s", r, c.want)
			}
		})
	}
	for _, args := range []string{`{"value":5}`, `{"value":null}`, `{"value":["https://example.com"]}`, `{}`} {
		if _, err := answerTo(t, urls(t, resolve.URLOptions{}), args); err == nil || refusal(t, err) != bad {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestURLRefusalHoldsNothingOfTheURL(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"https://user:hunter2@example.com/", "http://10.0.0.7/hunter2", "https://example.com/hunter2%zz", "hunter2"} {
		_, err := said(t, urls(t, resolve.URLOptions{}), text)
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "10.0.0.7") {
			t.Errorf("%v", err)
		}
	}
}

// A URL has one answer however it is spelled, and another URL another one.
func TestURLsAreEqualExactlyIfTheirAnswersAre(t *testing.T) {
	t.Parallel()
	u := urls(t, resolve.URLOptions{})
	type parts struct{ host, segment, query string }
	draw := func(t *rapid.T, name string) parts {
		return parts{rapid.StringMatching(`[a-z]{1,6}\.(example|com)`).Draw(t, name+" host"),
			rapid.StringMatching(`[a-zA-Z0-9~_!;=\x{e9}]{1,6}`).Draw(t, name+" segment"), rapid.StringMatching(`(\?[a-z0-9=&+/]{0,5})?`).Draw(t, name+" query")}
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := draw(rt, "one")
		encoded := p.segment
		if first := p.segment[0]; first < 0x80 && (first|0x20 >= 'a' && first|0x20 <= 'z') {
			encoded = "%" + string("0123456789abcdef"[first>>4]) + string("0123456789abcdef"[first&15]) + p.segment[1:]
		}
		want, err := said(t, u, "https://"+p.host+"/"+p.segment+p.query)
		if err != nil {
			rt.Fatal(err)
		}
		for _, spelling := range []string{
			"HTTPS://" + strings.ToUpper(p.host) + ":443/" + encoded + p.query + "#x",
			"https://" + p.host + "./x/%2E%2e/./" + p.segment + p.query,
		} {
			if got, err := said(t, u, spelling); err != nil || got != want {
				rt.Fatalf("%s: got %s, %v, want %s", spelling, got, err, want)
			}
		}
		q := draw(rt, "two")
		other, err := said(t, u, "https://"+q.host+"/"+q.segment+q.query)
		if err != nil || (other == want) != (p == q) {
			rt.Fatalf("%v and %v: %s and %s, %v", p, q, want, other, err)
		}
	})
}

func FuzzURL(f *testing.F) {
	for _, s := range []string{"https://example.com/a/../b?c#d", "http://0x7f.1/", "http://[::ffff:127.0.0.1]:80/", "https://b\u00fccher.example/%2e%2e/", "https://user@example.com",
		"https://1.1.1.1/%25252e", "HTTPS://EXAMPLE.COM:0443", "https://[2606:4700::1111]/\u00e9", "https://xn--80ak6aa92e.com/", "https://example.com/..;/a"} {
		f.Add(s)
	}
	u, err := resolve.NewURL(resolve.URLOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		got, err := said(t, u, text)
		if err != nil {
			refusal(t, err)
			return
		}
		if again, err := said(t, u, got); err != nil || again != got {
			t.Fatalf("%q: %q is not its own answer: %q, %v", text, got, again, err)
		}
		parsed, err := url.Parse(got)
		if err != nil || parsed.User != nil || parsed.Fragment != "" || parsed.String() != got {
			t.Fatalf("%q: net/url reads %q as %v, %v", text, got, parsed, err)
		}
		if strings.Contains(parsed.Path+"/", "/../") || strings.Contains(parsed.Path+"/", "/./") {
			t.Errorf("%q: dot segments in %q", text, got)
		}
		if addr, err := netip.ParseAddr(parsed.Hostname()); err == nil && (addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsUnspecified() || addr.IsMulticast()) {
			t.Errorf("%q: inner address in %q", text, got)
		}
	})
}

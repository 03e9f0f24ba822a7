package resolve_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/resolve"
)

func email(t testing.TB, domains ...string) *resolve.Email {
	t.Helper()
	e, err := resolve.NewEmail(resolve.EmailOptions{Domains: domains})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEmailHasOneSpelling(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"bob@example.com":                            "bob@example.com",
		"bob@EXAMPLE.Com":                            "bob@example.com",
		"Bob@example.com":                            "Bob@example.com", // the local part is the domain's own affair
		"bob+tag@example.com":                        "bob+tag@example.com",
		"b.o.b@example.com":                          "b.o.b@example.com",
		"o'brien@example.ie":                         "o'brien@example.ie",
		"!#$%&'*+-/=?^_`{|}~@a.example":              "!#$%&'*+-/=?^_`{|}~@a.example",
		"bob@sub.example.co.uk":                      "bob@sub.example.co.uk",
		"bob@b\u00fccher.example":                    "bob@xn--bcher-kva.example",
		"bob@BU\u0308CHER.example":                   "bob@xn--bcher-kva.example",
		"bob@xn--bcher-kva.example":                  "bob@xn--bcher-kva.example",
		"bob@XN--BCHER-KVA.EXAMPLE":                  "bob@xn--bcher-kva.example",
		"bob@fa\u00df.example":                       "bob@xn--fa-hia.example", // not fass.example
		"bob@ｅｘａｍｐｌｅ．ｃｏｍ":                            "bob@example.com",
		"bob@example\u3002com":                       "bob@example.com",
		"info@\u0442\u0435\u0441\u0442.\u0440\u0444": "info@xn--e1aybc.xn--p1ai",
		"\u043f\u043e\u0447\u0442\u0430@example.com": "\u043f\u043e\u0447\u0442\u0430@example.com",
		"\u7528\u6237@\u4f8b\u5b50.example":          "\u7528\u6237@xn--fsqu00a.example",
		"jos\u00e9@example.com":                      "jos\u00e9@example.com",
		strings.Repeat("a", 64) + "@a.ex":            strings.Repeat("a", 64) + "@a.ex",
		"1@2.example":                                "1@2.example",
	} {
		if got, err := said(t, email(t), text); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestEmailRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":                         "",
		"no at sign":                    "bob.example.com",
		"no local part":                 "@example.com",
		"no domain":                     "bob@",
		"two at signs":                  "bob@evil.example@example.com",
		"quoted local part":             `"bob"@example.com`,
		"quoted at sign":                `"bob@evil.example"@example.com`,
		"comment":                       "bob(x)@example.com",
		"comment in the domain":         "bob@(x)example.com",
		"display name":                  "Bob <bob@example.com>",
		"angle brackets":                "<bob@example.com>",
		"mailto":                        "mailto:bob@example.com",
		"parameters":                    "bob@example.com?cc=eve@evil.example",
		"list":                          "bob@example.com,eve@evil.example",
		"list with semicolon":           "bob@example.com;eve@evil.example",
		"list with space":               "bob@example.com eve@evil.example",
		"route":                         "@evil.example:bob@example.com",
		"header after a line":           "bob@example.com\r\nBcc: eve@evil.example",
		"line":                          "bob@example.com\n",
		"space before":                  " bob@example.com",
		"space behind":                  "bob@example.com ",
		"space around the sign":         "bob @example.com",
		"NUL":                           "bob\x00@example.com",
		"backslash":                     `b\ob@example.com`,
		"dot first":                     ".bob@example.com",
		"dot last":                      "bob.@example.com",
		"two dots":                      "b..ob@example.com",
		"two dots in the domain":        "bob@example..com",
		"dot of the root":               "bob@example.com.",
		"dot before the domain":         "bob@.example.com",
		"one label":                     "root@localhost",
		"address in brackets":           "bob@[192.0.2.1]",
		"address":                       "bob@192.0.2.1",
		"IPv6":                          "bob@[IPv6:::1]",
		"underscore in the domain":      "bob@my_host.example.com",
		"hyphen first":                  "bob@-example.com",
		"hyphen last":                   "bob@example-.com",
		"percent in the domain":         "bob@example%2ecom",
		"UUCP":                          "evil.example!bob@",
		"long local part":               strings.Repeat("a", 65) + "@example.com",
		"long label":                    "bob@" + strings.Repeat("a", 64) + ".com",
		"long domain":                   "bob@" + strings.Repeat("abcdefg.", 32) + "com",
		"endless":                       "bob@" + strings.Repeat("a", 1<<16),
		"long address":                  strings.Repeat("a", 64) + "@" + strings.Repeat("abcdefg.", 23) + "example",
		"zero-width space":              "bo\u200bb@example.com",
		"zero-width joiner":             "bo\u200db@example.com",
		"text from right to left":       "bob\u202emoc@example.com",
		"soft hyphen":                   "bo\u00adb@example.com",
		"full-width letter":             "\uff42ob@example.com",
		"full-width at sign":            "bob\uff20example.com",
		"small at sign":                 "bob\ufe6bexample.com",
		"decomposed letter":             "jose\u0301@example.com",
		"C01 mixed local part":          "b\u043eb@example.com",
		"C01 local part of look-alikes": "\u0430\u0440\u0440\u04cf\u0435@example.com",
		"C01 mixed domain":              "bob@ex\u0430mple.com",
		"C01 domain of look-alikes":     "bob@\u0430\u0440\u0440\u04cf\u0435.com",
		"C01 the same in Punycode":      "bob@xn--80ak6aa92e.com",
		"C01 dotless i":                 "bob@p\u0131zza.com",
		"C01 script g":                  "bob@\u0261oogle.com",
		"C01 Greek omicron":             "bob@g\u03bfogle.com",
		"Arabic digit":                  "bob\u0661@example.com",
		"Arabic digit in the domain":    "bob@exampl\u0665.com",
		"digit as a letter":             "bob\u00b2@example.com",
		"Punycode of ASCII":             "bob@xn--example-.com",
		"broken Punycode":               "bob@xn--\u00e9.com",
		"empty Punycode":                "bob@xn--.com",
		"Punycode of upper case":        "bob@xn--BCHER-zmb.example",
		"unassigned character":          "bob@ex\U000e0fffample.com",
		"emoji in the local part":       "bob\U0001f600@example.com",
	} {
		got, err := said(t, email(t), text)
		if err == nil {
			t.Errorf("%s: resolved to %q", name, got)
		} else if r := refusal(t, err); r != "email /value" {
			t.Errorf("%s: %s", name, r)
		}
	}
	for _, args := range []string{`{"value":5}`, `{"value":null}`, `{"value":["bob@example.com"]}`, `{}`} {
		if _, err := answerTo(t, email(t), args); err == nil || refusal(t, err) != "email /value" {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestEmailDomainsMatchExactly(t *testing.T) {
	t.Parallel()
	ours := email(t, "Example.com", "b\u00fccher.example", "example.com")
	for text, want := range map[string]string{
		"bob@EXAMPLE.com": "", "bob@xn--bcher-kva.example": "",
		"bob@sub.example.com": "target_unresolved /value", "bob@notexample.com": "target_unresolved /value",
		"bob@example.com.evil.example": "target_unresolved /value",
	} {
		got := ""
		if _, err := said(t, ours, text); err != nil {
			got = refusal(t, err)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	for _, d := range []string{"", "localhost", "*.example.com", "@example.com", "example.com.", "ex\u0430mple.com"} {
		if _, err := resolve.NewEmail(resolve.EmailOptions{Domains: []string{d}}); err == nil {
			t.Errorf("domain %q accepted", d)
		}
	}
	one, _ := answerTo(t, ours, `{"value":"bob@example.com"}`)
	two, _ := answerTo(t, email(t), `{"value":"bob@example.com"}`)
	three, _ := answerTo(t, email(t, "b\u00fccher.example", "example.com"), `{"value":"bob@example.com"}`)
	if one.Version == two.Version || one.Version != three.Version {
		t.Errorf("versions %q, %q, %q", one.Version, two.Version, three.Version)
	}
}

// One mailbox has one answer however its domain is spelled; another local
// part or domain has another.
func TestAddressesAreEqualExactlyIfTheirAnswersAre(t *testing.T) {
	t.Parallel()
	e := email(t)
	rapid.Check(t, func(rt *rapid.T) {
		local := rapid.StringMatching(`[A-Za-z0-9+_-]{1,8}(\.[A-Za-z0-9]{1,4})?`)
		domain := rapid.StringMatching(`[a-z0-9\x{fc}\x{e9}]{1,8}\.[a-z]{2,5}`)
		l, d := local.Draw(rt, "local"), domain.Draw(rt, "domain")
		first, err := said(t, e, l+"@"+d)
		if err != nil {
			rt.Fatalf("%s@%s: %v", l, d, err)
		}
		for _, spelling := range []string{l + "@" + strings.ToUpper(d), l + "@" + strings.ReplaceAll(d, ".", "\u3002"), first} {
			if again, err := said(t, e, spelling); err != nil || again != first {
				rt.Fatalf("%s: %s, %v; want %s", spelling, again, err, first)
			}
		}
		l2, d2 := local.Draw(rt, "other local"), domain.Draw(rt, "other domain")
		other, err := said(t, e, l2+"@"+d2)
		if err != nil || (other == first) != (l == l2 && d == d2) {
			rt.Fatalf("%s@%s and %s@%s: %s and %s, %v", l, d, l2, d2, first, other, err)
		}
	})
}

func FuzzEmail(f *testing.F) {
	for _, s := range []string{"bob@example.com", "bob@b\u00fccher.example", "bob@xn--bcher-kva.example", `"a b"@c.example`, "a@b@c.example", "\u7528\u6237@\u4f8b\u5b50.example", "a@\u0628.example"} {
		f.Add(s)
	}
	e, err := resolve.NewEmail(resolve.EmailOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		a, err := e.Resolve(t.Context(), map[string]canon.Value{"value": canon.StringValue(text)})
		if err != nil {
			refusal(t, err)
			return
		}
		got := a.Values["value"].Text()
		if again, err := said(t, e, got); err != nil || again != got {
			t.Errorf("%q: %q is not its own answer: %q, %v", text, got, again, err)
		}
		if strings.Count(got, "@") != 1 || strings.ContainsAny(got, " \"<>(),;:\\[]\r\n\x00") {
			t.Errorf("%q: answer %q", text, got)
		}
	})
}

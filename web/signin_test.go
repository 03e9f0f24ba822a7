package web_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"testing"

	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/auth/authtest"
	"github.com/seed-de4804fb/verbatim/auth/passkey"
	"github.com/seed-de4804fb/verbatim/web"
)

// benchByName is a bench at localhost whose approver has a passkey.
func benchByName(t *testing.T) (*bench, *authtest.Authenticator) {
	t.Helper()
	b := newBench(t, payment("act_1"), payment("act_2"))
	b.at = "http://localhost:8420"
	var err error
	if b.site, err = web.New(web.Config{Gate: b.gate, People: b.accounts, Tools: tools, Origin: b.at, Now: b.clock.Now}); err != nil {
		t.Fatal(err)
	}
	return b, b.armed(t, b.alice)
}

// armed gives a person a passkey.
func (b *bench) armed(t *testing.T, a auth.Account) *authtest.Authenticator {
	t.Helper()
	site, err := passkey.NewSite(b.at)
	if err != nil {
		t.Fatal(err)
	}
	device, err := authtest.NewAuthenticator(b.at)
	if err != nil {
		t.Fatal(err)
	}
	nonce := auth.NewNonce()
	challenge, err := hex.DecodeString(nonce)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.accounts.AddPasskey(t.Context(), site, auth.NewPasskey{Account: a, Name: "laptop", Nonce: nonce,
		Created: device.Create(challenge), Password: password}); err != nil {
		t.Fatal(err)
	}
	return device
}

// asked is the challenge of a form on a page.
func asked(t *testing.T, form string) []byte {
	t.Helper()
	m := regexp.MustCompile(`data-challenge="([^"]+)"`).FindStringSubmatch(form)
	if m == nil {
		t.Fatal("the form asks for no passkey")
	}
	challenge, err := base64.RawURLEncoding.DecodeString(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return challenge
}

// answered fills a form in as the page's script does.
func answered(t *testing.T, device *authtest.Authenticator, page, path string) url.Values {
	t.Helper()
	by := device.Assert(asked(t, partOf(t, page, path)))
	b64 := base64.RawURLEncoding.EncodeToString
	return with(formOf(t, page, path), "credential", b64(by.CredentialID), "client", b64(by.ClientData), "data", b64(by.AuthenticatorData), "signature", b64(by.Signature))
}

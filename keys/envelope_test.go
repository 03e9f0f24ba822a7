package keys_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

const payloadType = "application/vnd.verbatim.test.v1+json"

func seed(n byte) []byte { return bytes.Repeat([]byte{n}, 32) }

func signer(t testing.TB, p keys.Purpose, seeds ...[]byte) *keys.Signer {
	t.Helper()
	s, err := keys.NewSigner(p, seeds...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parse(t testing.TB, src []byte) keys.Envelope {
	t.Helper()
	e, err := keys.ParseEnvelope(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return e
}

func TestEnvelopeVerifiesForItsTypeAndKeyOnly(t *testing.T) {
	t.Parallel()
	s, stranger := signer(t, keys.Votes, seed(1)), signer(t, keys.Votes, seed(2))
	e := parse(t, s.Sign(payloadType, []byte(`{"a":1}`)).JSON())
	payload, key, err := keys.Verify(e, payloadType, append(stranger.Public(), s.Public()...)...)
	if err != nil || string(payload) != `{"a":1}` || !key.Equal(s.Public()[0]) {
		t.Fatalf("payload %s, key %x, error %v", payload, key, err)
	}
	for name, c := range map[string]struct {
		payloadType string
		keys        []ed25519.PublicKey
		want        error
	}{
		"another type":    {payloadType + "x", s.Public(), keys.ErrPayloadType},
		"another key":     {payloadType, stranger.Public(), keys.ErrSignature},
		"no key":          {payloadType, nil, keys.ErrSignature},
		"a key cut short": {payloadType, []ed25519.PublicKey{s.Public()[0][:31]}, keys.ErrSignature},
	} {
		if payload, _, err := keys.Verify(e, c.payloadType, c.keys...); !errors.Is(err, c.want) || payload != nil {
			t.Errorf("%s: payload %q, error %v, want %v", name, payload, err, c.want)
		}
	}
}

// TestWhatIsSignedIsThePreAuthenticationEncoding checks the example of the
// DSSE protocol text.
func TestWhatIsSignedIsThePreAuthenticationEncoding(t *testing.T) {
	t.Parallel()
	s := signer(t, keys.Votes, seed(1))
	e := s.Sign("http://example.com/HelloWorld", []byte("hello world"))
	v, err := canon.Decode(e.JSON(), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	signatures, _ := v.Get("signatures")
	text, _ := signatures.At(0).Get("sig")
	sig, err := base64.StdEncoding.DecodeString(text.Text())
	if err != nil {
		t.Fatal(err)
	}
	if !ed25519.Verify(s.Public()[0], []byte("DSSEv1 29 http://example.com/HelloWorld 11 hello world"), sig) {
		t.Fatal("something else was signed")
	}
}

func TestEveryChangedByteOfAnEnvelopeIsNoticed(t *testing.T) {
	t.Parallel()
	s := signer(t, keys.Votes, seed(1))
	src := s.Sign(payloadType, []byte(`{"to":"VENDOR-001"}`)).JSON()
	keyID := bytes.Index(src, []byte(s.KeyID())) // a hint that is not signed
	for i := range src {
		changed := bytes.Clone(src)
		changed[i] ^= 1
		e, err := keys.ParseEnvelope(changed)
		if err != nil {
			continue
		}
		if payload, _, err := keys.Verify(e, payloadType, s.Public()...); err == nil && (i < keyID || i >= keyID+len(s.KeyID())) {
			t.Errorf("byte %d changed, still %s", i, payload)
		}
	}
}

func TestParseEnvelopeRefuses(t *testing.T) {
	t.Parallel()
	const sig = `{"keyid":"k","sig":"AAAA"}`
	for name, src := range map[string]string{
		"nothing":                   ``,
		"an array":                  `[]`,
		"no signatures":             `{"payload":"","payloadType":"t","signatures":[]}`,
		"missing signatures":        `{"payload":"","payloadType":"t","x":1}`,
		"an unknown member":         `{"payload":"","payloadType":"t","signatures":[` + sig + `],"x":1}`,
		"a member twice":            `{"payload":"","payload":"","payloadType":"t","signatures":[` + sig + `]}`,
		"a member in another case":  `{"payload":"","payloadType":"t","Payload":"","signatures":[` + sig + `]}`,
		"a payload that is no text": `{"payload":1,"payloadType":"t","signatures":[` + sig + `]}`,
		"URL-safe base64":           `{"payload":"_-_-","payloadType":"t","signatures":[` + sig + `]}`,
		"base64 without padding":    `{"payload":"QQ","payloadType":"t","signatures":[` + sig + `]}`,
		"base64 with stray bits":    `{"payload":"QR==","payloadType":"t","signatures":[` + sig + `]}`,
		"base64 with a line break":  `{"payload":"QUJD\nREVG","payloadType":"t","signatures":[` + sig + `]}`,
		"a signature with more":     `{"payload":"","payloadType":"t","signatures":[{"keyid":"k","sig":"AAAA","x":1}]}`,
		"too many signatures":       `{"payload":"","payloadType":"t","signatures":[` + strings.Repeat(sig+",", 16) + sig + `]}`,
		"something behind":          `{"payload":"","payloadType":"t","signatures":[` + sig + `]} {}`,
		"too long":                  `{"payload":"` + strings.Repeat("QUJD", 1<<15) + `","payloadType":"t","signatures":[` + sig + `]}`,
	} {
		if _, err := keys.ParseEnvelope([]byte(src)); !errors.Is(err, keys.ErrEnvelope) {
			t.Errorf("%s: error %v, want ErrEnvelope", name, err)
		}
	}
}

func FuzzParseEnvelope(f *testing.F) {
	s := signer(f, keys.Votes, seed(1))
	f.Add(s.Sign(payloadType, []byte(`{"a":1}`)).JSON())
	f.Add([]byte(`{"payload":"QUJD","payloadType":"t","signatures":[{"keyid":"","sig":""}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		e, err := keys.ParseEnvelope(src)
		if err != nil {
			return
		}
		if again := parse(t, e.JSON()); !bytes.Equal(again.JSON(), e.JSON()) {
			t.Fatalf("%s reads back as %s", e.JSON(), again.JSON())
		}
	})
}

// SignJSON makes the same bytes as Sign, and neither keeps nor changes the payload.
func TestSignJSONIsTheJSONFormOfSign(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, err := keys.NewSigner(keys.Votes, seed(1), seed(2))
		if err != nil {
			t.Fatal(err)
		}
		kind, payload := rapid.String().Draw(t, "type"), rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "payload")
		before := bytes.Clone(payload)
		if got, want := s.SignJSON(kind, payload), s.Sign(kind, payload).JSON(); !bytes.Equal(got, want) || !bytes.Equal(payload, before) {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}

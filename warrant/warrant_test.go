package warrant_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/warrant"
)

func seedOf(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

func sigOf(t testing.TB, e keys.Envelope) []byte {
	t.Helper()
	v, err := canon.Decode(e.JSON(), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := base64.StdEncoding.DecodeString(textAt(v, "/signatures/0/sig"))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func macOf(key ed25519.PublicKey, payload []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(payload)
	return append(m.Sum(nil), m.Sum(nil)...)
}

func TestProposalHashIsThatOfTheContract(t *testing.T) {
	t.Parallel()
	for _, v := range [][4]string{
		{"a", "t", `{"amount":5}`, "9cf3a7878cccb3528177861a8bb6e5b4280e9bd8fbc29609caf83f9663e69aac"},
		{"Support Agent", "transfer", `{"account":"VENDOR-001","amount_minor":840000,"currency":"USD"}`,
			"30a1fcc1c6cec492a4b58b410435c6b1a724a43b12f43a17f71c8dccb5bc94e2"},
	} {
		if got := warrant.ProposalHash(v[0], v[1], v[2]).String(); got != v[3] {
			t.Errorf("%v: %s", v, got)
		}
	}
}

func TestOnlyAWholeWarrantIsSignedAndOnlyByAKeyForWarrants(t *testing.T) {
	t.Parallel()
	good := sample(t, plainArgs)
	for name, change := range map[string]func(*warrant.Warrant){
		"no issuer":          func(w *warrant.Warrant) { w.Issuer = "" },
		"no audience":        func(w *warrant.Warrant) { w.Audience = "" },
		"no kind":            func(w *warrant.Warrant) { w.Kind = "" },
		"no action":          func(w *warrant.Warrant) { w.Action = "" },
		"no attempt":         func(w *warrant.Warrant) { w.Attempt = 0 },
		"no fence":           func(w *warrant.Warrant) { w.Fence = 0 },
		"no arguments":       func(w *warrant.Warrant) { w.Args = canon.Digest{} },
		"a long life":        func(w *warrant.Warrant) { w.SendBy = w.SendBy.Add(time.Millisecond) },
		"a read that counts": func(w *warrant.Warrant) { w.Kind = warrant.Read },
		"a part of a moment": func(w *warrant.Warrant) { w.IssuedAt = w.IssuedAt.Add(time.Microsecond) },
	} {
		bad := good
		change(&bad)
		if text, err := bad.Sign(signer(t, 1)); !errors.Is(err, warrant.ErrWarrant) || text != nil {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	for _, p := range []keys.Purpose{keys.Votes, keys.Receipts, keys.Checkpoints, keys.Witnesses} {
		s, err := keys.NewSigner(p, seedOf(1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := good.Sign(s); !errors.Is(err, warrant.ErrWarrant) {
			t.Errorf("a %s key signed: %v", p, err)
		}
	}
	if _, err := good.Sign(nil); !errors.Is(err, warrant.ErrWarrant) {
		t.Error(err)
	}
}

func TestACheckerNeedsAnAudienceAndKeys(t *testing.T) {
	t.Parallel()
	good := warrant.Config{Audience: "a", Keys: signer(t, 1).Public()}
	if _, err := warrant.New(good); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*warrant.Config){
		"no audience":     func(c *warrant.Config) { c.Audience = "" },
		"no keys":         func(c *warrant.Config) { c.Keys = nil },
		"a short key":     func(c *warrant.Config) { c.Keys = []ed25519.PublicKey{{1}} },
		"a negative skew": func(c *warrant.Config) { c.Skew = -1 },
		"a long skew":     func(c *warrant.Config) { c.Skew = time.Minute },
	} {
		bad := good
		change(&bad)
		if _, err := warrant.New(bad); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// forgetful remembers nothing, and says so.
type forgetful struct{}

func (forgetful) Use(context.Context, warrant.Warrant) (warrant.Verdict, error) {
	return warrant.OK, errors.New("down")
}

func TestNothingRunsWhereNobodyCanSayThatItIsTheFirstTime(t *testing.T) {
	t.Parallel()
	now := at(t, usual)
	text := []byte(sign(t, sample(t, plainArgs)))
	for name, tt := range map[string]struct {
		change func(*warrant.Config)
		want   warrant.Verdict
	}{
		"a memory that fails":       {func(c *warrant.Config) { c.Seen = forgetful{} }, warrant.Unavailable},
		"a gateway that fails":      {func(c *warrant.Config) { c.Ask = asked(true, errors.New("down")) }, warrant.Unavailable},
		"an attempt that has ended": {func(c *warrant.Config) { c.Ask = asked(false, nil) }, warrant.Replayed},
		"an attempt that stands":    {func(c *warrant.Config) { c.Ask = asked(true, nil) }, warrant.OK},
		"a gateway that answers late": {func(c *warrant.Config) {
			moment := now
			c.Now = func() time.Time { return moment }
			c.Ask = func(context.Context, warrant.Warrant) (bool, error) { moment = at(t, sendBy); return true, nil }
		}, warrant.Late},
		"a clock that may be behind": {func(c *warrant.Config) { c.Skew = 20 * time.Second }, warrant.Late},
	} {
		cfg := warrant.Config{Audience: audience, Keys: signer(t, 1).Public(), Now: func() time.Time { return now },
			Seen: warrant.NewMemory(func() time.Time { return at(t, began) })}
		tt.change(&cfg)
		c, err := warrant.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, v := c.Check(t.Context(), text, []byte(plainArgs), warrant.Expect{}); v != tt.want {
			t.Errorf("%s: %s, want %s", name, v, tt.want)
		}
	}
}

func asked(standing bool, err error) func(context.Context, warrant.Warrant) (bool, error) {
	return func(context.Context, warrant.Warrant) (bool, error) { return standing, err }
}

func TestTheHeaderHasOneForm(t *testing.T) {
	t.Parallel()
	text := []byte(sign(t, sample(t, plainArgs)))
	if got, ok := warrant.Decode(warrant.Encode(text)); !ok || !bytes.Equal(got, text) {
		t.Error("a header does not come back")
	}
	for _, bad := range []string{"", "=", "e30=", "e31", "e3 0", "e30\n", "+/+/", string(bytes.Repeat([]byte("a"), 1<<20))} {
		if _, ok := warrant.Decode(bad); ok {
			t.Errorf("%.20q was taken", bad)
		}
	}
}

func FuzzCheck(f *testing.F) {
	now := at(f, usual)
	f.Add([]byte(sign(f, sample(f, plainArgs))), []byte(plainArgs))
	f.Add([]byte(`{"payload":"","payloadType":"","signatures":[{"keyid":"","sig":""}]}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, envelope, arguments []byte) {
		c, err := warrant.New(warrant.Config{Audience: audience, Keys: signer(t, 1).Public(), Now: func() time.Time { return now },
			Seen: warrant.NewMemory(func() time.Time { return at(t, began) })})
		if err != nil {
			t.Fatal(err)
		}
		w, v := c.Check(t.Context(), envelope, arguments, warrant.Expect{})
		if v != warrant.OK {
			return
		}
		read, err := canon.Decode(arguments, canon.Options{Exact: true})
		if err != nil || canon.Sum(read.Canonical()) != w.Args || string(read.Canonical()) != plainArgs {
			t.Errorf("%q may run under a warrant for %s", arguments, plainArgs)
		}
	})
}

func TestTheFormOfTheHeaderIsBase64URL(t *testing.T) {
	t.Parallel()
	for n := range 3000 {
		envelope := bytes.Repeat([]byte{byte(n), 0xfb, 0x00, 0x7f, 0xff}, n/5+1)[:n]
		if got := warrant.Encode(envelope); got != base64.RawURLEncoding.EncodeToString(envelope) {
			t.Fatalf("%d bytes: %s", n, got)
		}
		if got := string(warrant.AppendEncoded([]byte("x"), envelope)); got != "x"+warrant.Encode(envelope) {
			t.Fatalf("%d bytes behind another: %s", n, got)
		}
	}
}

package oauth_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-de4804fb/verbatim/auth/oauth"
)

// hanging is a verifier of a server's tokens whose keys come only when it is
// told so.
func (s *server) hanging(t *testing.T) (*oauth.Verifier, chan struct{}) {
	t.Helper()
	answer := make(chan struct{})
	v, err := oauth.New(oauth.Config{Issuer: issuer, Audience: audience, Now: func() time.Time { return s.at }, Fetch: func(ctx context.Context) ([]byte, error) {
		select {
		case <-answer:
			return s.fetch(ctx)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return v, answer
}

// verify checks a token beside the test.
func verify(ctx context.Context, v *oauth.Verifier, token string) chan error {
	told := make(chan error, 1)
	go func() { _, err := v.Verify(ctx, token); told <- err }()
	return told
}

// Anybody can have the server asked for its keys, by a token that names one
// which nobody knows. If they go away meanwhile, the answer is for others.
func TestWhoeverGoesAwayTakesNoKeysAlong(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	token, stranger := s.token("RS256", "r", nil), newServer(t).token("RS256", "nobody's", nil)
	synctest.Test(t, func(t *testing.T) {
		v, answer := s.hanging(t)
		gone, leave := context.WithCancel(t.Context())
		left := verify(gone, v, stranger)
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("whoever went away: %v", err)
		}
		told := verify(t.Context(), v, token)
		synctest.Wait()
		close(answer)
		if err := <-told; err != nil {
			t.Errorf("somebody else: %v", err)
		}
	})
}

// A token under a key that is known waits for no server that is asked for
// another.
func TestKnownKeyWaitsForNobody(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	token, stranger := s.token("RS256", "r", nil), newServer(t).token("RS256", "nobody's", nil)
	synctest.Test(t, func(t *testing.T) {
		v, answer := s.hanging(t)
		first := verify(t.Context(), v, token)
		answer <- struct{}{}
		if err := <-first; err != nil {
			t.Fatal(err)
		}
		s.at = s.at.Add(oauth.MinRefresh)
		refused := verify(t.Context(), v, stranger)
		synctest.Wait() // the server hangs
		before := time.Now()
		if err := <-verify(t.Context(), v, token); err != nil || !time.Now().Equal(before) {
			t.Errorf("under a key that is known: %v, after %s", err, time.Since(before))
		}
		if err := <-refused; !errors.Is(err, oauth.ErrToken) { // when the server has hung for too long
			t.Errorf("a key that nobody knows: %v", err)
		}
	})
}

// What is left out makes no verifier that asks for less.
func TestVerifierNeedsIssuerAudienceAndKeys(t *testing.T) {
	t.Parallel()
	whole := oauth.Config{Issuer: issuer, Audience: audience, Fetch: func(context.Context) ([]byte, error) { return nil, nil }}
	if _, err := oauth.New(whole); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*oauth.Config){
		"issuer":   func(c *oauth.Config) { c.Issuer = "" },
		"audience": func(c *oauth.Config) { c.Audience = "" },
		"keys":     func(c *oauth.Config) { c.Fetch = nil },
	} {
		c := whole
		change(&c)
		if _, err := oauth.New(c); err == nil {
			t.Errorf("without %s there is a verifier", name)
		}
	}
}

// Two keys of one id could be a key of somebody else beside the right one: the
// whole set is not believed.
func TestTwoKeysOfOneIDAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	token := s.token("RS256", "r", nil)
	if _, err := s.verifier().Verify(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	s.extra = `,{"kid":"d","kty":"OKP","crv":"Ed25519","x":"` + b64(newServer(t).ed.Public().(ed25519.PublicKey)) + `"}`
	if _, err := s.verifier().Verify(t.Context(), token); err == nil {
		t.Error("one of them was taken")
	}
}

// Keys are asked for when they are old, and not before.
func TestKeysAreAskedForWhenTheyAreOld(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	v, token := s.verifier(), s.token("RS256", "r", object{"exp": now.Add(time.Hour).Unix()})
	for _, step := range []struct {
		later time.Duration
		asked int
	}{{0, 1}, {oauth.MinRefresh, 1}, {oauth.MaxAge - oauth.MinRefresh, 1}, {time.Second, 2}, {oauth.MaxAge, 2}} {
		s.at = s.at.Add(step.later)
		if _, err := v.Verify(t.Context(), token); err != nil || s.asked != step.asked {
			t.Errorf("%s later: asked %d times, not %d, %v", step.later, s.asked, step.asked, err)
		}
	}
}

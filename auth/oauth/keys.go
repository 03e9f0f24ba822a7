package oauth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// How long keys are kept. A key that is withdrawn is believed for MaxAge at
// most; MinRefresh keeps tokens with made-up key ids from asking without end.
const (
	MaxAge     = 10 * time.Minute
	MinRefresh = 30 * time.Second
	maxFetch   = 10 * time.Second // of one question to the server
)

// Key is one public key of a JWK set, with the algorithms that it may be used
// with. The zero Key verifies nothing.
type Key struct {
	ID     string // "" where it has none
	verify map[string]func(signed, signature []byte) bool
}

// Takes reports whether the key is for an algorithm (RFC 7518 §3.1).
func (k Key) Takes(alg string) bool { return k.verify[alg] != nil }

// Verify reports whether a signature holds.
func (k Key) Verify(alg string, signed, signature []byte) bool {
	return k.Takes(alg) && k.verify[alg](signed, signature)
}

// keySet is the JWK set of a server.
type keySet struct {
	fetch func(ctx context.Context) ([]byte, error)
	now   func() time.Time

	mu     sync.Mutex
	keys   map[string]*Key
	at     time.Time // of the last success
	tried  time.Time
	asking *asking // nil while nobody asks the server
}

// asking is one question to the server. All who need its answer wait for it.
type asking struct {
	done chan struct{}
	err  error
}

// find returns the key of an id; nil if there is none. A key that is known and
// good waits for nobody.
func (s *keySet) find(ctx context.Context, id string) (*Key, error) {
	s.mu.Lock()
	k, good := s.known(id)
	if k == nil || !good {
		s.ask(ctx)
	}
	asked := s.asking
	s.mu.Unlock()
	if k != nil && good {
		return k, nil
	}
	var err error
	if asked != nil {
		select {
		case <-asked.done:
			err = asked.err
		case <-ctx.Done():
			return nil, fmt.Errorf("oauth: wait for the keys: %w", ctx.Err())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, good = s.known(id); good {
		return k, nil
	}
	if err == nil {
		err = errors.New("oauth: the keys of the authorization server are not to be had")
	}
	return nil, err
}

// known returns the key of an id, and whether the keys are of an age to be
// believed. s.mu is held.
func (s *keySet) known(id string) (k *Key, good bool) {
	return s.keys[id], s.keys != nil && s.now().Sub(s.at) <= MaxAge
}

// ask has the server asked, unless somebody is asking or has just done so. What
// comes of it is for all: whoever caused it and goes away does not end it. s.mu
// is held.
func (s *keySet) ask(ctx context.Context) {
	now := s.now()
	if s.asking != nil || !s.tried.IsZero() && now.Sub(s.tried) < MinRefresh {
		return
	}
	question := &asking{done: make(chan struct{})}
	s.tried, s.asking = now, question
	go func() {
		defer close(question.done)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxFetch)
		defer cancel()
		keys, err := s.load(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asking, question.err = nil, err
		if err == nil {
			s.take(keys, now)
		}
	}()
}

// take believes keys that were asked for at a time, unless later ones came.
// s.mu is held.
func (s *keySet) take(keys map[string]*Key, at time.Time) {
	if !s.at.After(at) {
		s.keys, s.at = keys, at
	}
}

// refresh asks for the keys at once. If that fails, those that are known stay
// for as long as they are good.
func (s *keySet) refresh(ctx context.Context) error {
	began := s.now()
	keys, err := s.load(ctx) // tokens are checked meanwhile
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(keys, began)
	if s.tried.Before(began) {
		s.tried = began
	}
	return nil
}

func (s *keySet) load(ctx context.Context) (map[string]*Key, error) {
	raw, err := s.fetch(ctx)
	if err != nil {
		return nil, fmt.Errorf("oauth: fetch the keys: %w", err)
	}
	list, err := ParseKeys(raw)
	if err != nil {
		return nil, err
	}
	out := map[string]*Key{}
	for _, k := range list {
		if _, twice := out[k.ID]; twice && k.ID != "" {
			return nil, errors.New("oauth: two keys have one id")
		}
		if k.ID != "" {
			out[k.ID] = &k
		}
	}
	if len(out) == 0 {
		return nil, errors.New("oauth: the server has no key of use")
	}
	return out, nil
}

// ParseKeys reads a JWK set (RFC 7517 §5). Keys of other kinds and uses are
// for somebody else and left out.
func ParseKeys(raw []byte) ([]Key, error) {
	set, err := canon.Decode(raw, canon.Options{})
	if err != nil {
		return nil, fmt.Errorf("oauth: read the keys: %w", err)
	}
	list, _ := set.Get("keys")
	var out []Key
	for _, e := range list.Elements() {
		if k, ok := parseKey(e); ok {
			out = append(out, k)
		}
	}
	return out, nil
}

// parseKey reads an RSA, P-256 or Ed25519 signing key (RFC 7518 §6, RFC 8037
// §2, RFC 9864); false for any other. A key that names its algorithm is for no
// other (RFC 7517 §4.4).
func parseKey(v canon.Value) (Key, bool) {
	text := func(name string) string { m, _ := v.Get(name); return m.Text() }
	bytes := func(name string) []byte {
		raw, err := base64.RawURLEncoding.DecodeString(text(name))
		if err != nil {
			return nil
		}
		return raw
	}
	if use := text("use"); use != "" && use != "sig" || !verifies(v) {
		return Key{}, false
	}
	k := Key{ID: text("kid")}
	switch text("kty") + " " + text("crv") {
	case "RSA ":
		k.verify = rsaKey(bytes("n"), bytes("e"))
	case "EC P-256":
		k.verify = ecKey(bytes("x"), bytes("y"))
	case "OKP Ed25519":
		k.verify = edKey(bytes("x"))
	}
	if alg := text("alg"); alg != "" {
		maps.DeleteFunc(k.verify, func(other string, _ func(_, _ []byte) bool) bool { return other != alg })
	}
	return k, len(k.verify) > 0
}

// verifies reports whether a key may verify, as far as it says what it is for
// (RFC 7517 §4.3).
func verifies(v canon.Value) bool {
	operations, found := v.Get("key_ops")
	return !found || slices.ContainsFunc(operations.Elements(), func(o canon.Value) bool { return o.Text() == "verify" })
}

type verifiers = map[string]func(signed, signature []byte) bool

func rsaKey(n, e []byte) verifiers {
	exponent := new(big.Int).SetBytes(e)
	public := &rsa.PublicKey{N: new(big.Int).SetBytes(n)}
	if size := public.N.BitLen(); size < 2048 || size > 8192 || !exponent.IsInt64() || exponent.Int64() < 3 || exponent.Int64() > 1<<31-1 {
		return nil
	}
	public.E = int(exponent.Int64())
	return verifiers{"RS256": func(signed, signature []byte) bool {
		sum := sha256.Sum256(signed)
		return rsa.VerifyPKCS1v15(public, crypto.SHA256, sum[:], signature) == nil
	}, "PS256": func(signed, signature []byte) bool { // RFC 7518 §3.5: a salt as long as the hash
		sum := sha256.Sum256(signed)
		return rsa.VerifyPSS(public, crypto.SHA256, sum[:], signature, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil
	}}
}

func ecKey(x, y []byte) verifiers {
	if len(x) != 32 || len(y) != 32 {
		return nil
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
	if err != nil {
		return nil
	}
	return verifiers{"ES256": func(signed, signature []byte) bool {
		if len(signature) != 64 {
			return false
		}
		sum := sha256.Sum256(signed)
		return ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
	}}
}

func edKey(x []byte) verifiers {
	if len(x) != ed25519.PublicKeySize {
		return nil
	}
	verify := func(signed, signature []byte) bool { return ed25519.Verify(x, signed, signature) }
	return verifiers{"EdDSA": verify, "Ed25519": verify}
}

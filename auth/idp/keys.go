package idp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/auth/oauth"
	"github.com/seed-de4804fb/verbatim/canon"
)

// How much of the provider's keys is read, and how often they are asked for.
const (
	maxKeys    = 1 << 20
	minRefresh = 30 * time.Second
)

// errSignature is an ID token that no key of the provider has signed.
var errSignature = errors.New("no key of the provider signed it")

// keySet checks the signatures of ID tokens with the provider's keys. The
// library's own takes keys that are for encryption or for another algorithm,
// and PS256 with a salt of any length (RFC 7517 §4.2 to §4.4, RFC 7518 §3.5).
type keySet struct {
	client  *http.Client
	address string
	now     func() time.Time

	mu    sync.Mutex
	list  []oauth.Key
	at    time.Time // of the last success
	tried time.Time
}

// VerifySignature implements oidc.KeySet. A token that names no key may be
// signed by any that is for its algorithm.
func (s *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errSignature
	}
	alg, id, err := readHeader(parts[0])
	if err != nil {
		return nil, err
	}
	signature, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if err != nil {
		return nil, errSignature
	}
	keys, err := s.keys(ctx, alg, id)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if k.Verify(alg, []byte(parts[0]+"."+parts[1]), signature) {
			return base64.RawURLEncoding.Strict().DecodeString(parts[1])
		}
	}
	return nil, errSignature
}

// readHeader reads the header of a token. What it brings to find a key by, but
// its id, is refused.
func readHeader(text string) (alg, id string, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return "", "", errSignature
	}
	h, err := canon.Decode(raw, canon.Options{})
	if err != nil || h.Kind() != canon.Object {
		return "", "", errSignature
	}
	for _, name := range []string{"crit", "jwk", "jku", "x5u", "x5c", "zip", "enc"} {
		if _, found := h.Get(name); found {
			return "", "", errSignature
		}
	}
	a, _ := h.Get("alg")
	k, named := h.Get("kid")
	if !slices.Contains(algorithms, a.Text()) || named && k.Kind() != canon.String {
		return "", "", errSignature
	}
	return a.Text(), k.Text(), nil
}

// keys are those that may have signed a token. They are fetched again where
// none is known, or the last answer is old.
func (s *keySet) keys(ctx context.Context, alg, id string) ([]oauth.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, now := s.fitting(alg, id), s.now()
	old := s.at.IsZero() || now.Sub(s.at) > oauth.MaxAge
	if len(found) > 0 && !old || !old && now.Sub(s.tried) < minRefresh {
		return found, nil
	}
	s.tried = now
	list, err := s.fetch(ctx)
	if err != nil {
		return nil, err
	}
	s.list, s.at = list, now
	return s.fitting(alg, id), nil
}

func (s *keySet) fitting(alg, id string) (out []oauth.Key) {
	for _, k := range s.list {
		if k.Takes(alg) && (id == "" || k.ID == id) {
			out = append(out, k)
		}
	}
	return out
}

func (s *keySet) fetch(ctx context.Context) ([]oauth.Key, error) {
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address, nil)
	if err != nil {
		return nil, fmt.Errorf("ask for the provider's keys: %w", err)
	}
	answer, err := s.client.Do(ask)
	if err != nil {
		return nil, fmt.Errorf("ask for the provider's keys: %w", err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxKeys))
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask for the provider's keys: status %d, %w", answer.StatusCode, errors.Join(err, errSignature))
	}
	return oauth.ParseKeys(raw)
}

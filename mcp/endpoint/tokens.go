package endpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/mcp/hub"
)

// Static is one token of a configuration, known by its digest.
type Static struct {
	Name   string // for logs and limits
	Digest [sha256.Size]byte
	Caller hub.Caller
}

// Tokens is an Authority over a fixed list. Tokens are looked up by their
// SHA-256, so that neither memory nor timing tells one.
type Tokens struct {
	byDigest map[[sha256.Size]byte]Identity
}

// NewTokens checks the list.
func NewTokens(list []Static) (*Tokens, error) {
	t := &Tokens{byDigest: map[[sha256.Size]byte]Identity{}}
	for _, s := range list {
		if s.Name == "" {
			return nil, errors.New("a token without a name")
		}
		if err := s.Caller.Session.Validate(); err != nil {
			return nil, fmt.Errorf("token %q: %w", s.Name, err)
		}
		if _, twice := t.byDigest[s.Digest]; twice {
			return nil, fmt.Errorf("token %q: another one has the same text", s.Name)
		}
		if s.Digest == sha256.Sum256(nil) {
			return nil, fmt.Errorf("token %q: is empty", s.Name)
		}
		t.byDigest[s.Digest] = Identity{Key: "token:" + s.Name, Caller: s.Caller}
	}
	return t, nil
}

var errUnknown = errors.New("nobody has this token")

// Identify says who stands behind a token.
func (t *Tokens) Identify(_ context.Context, token string) (Identity, error) {
	who, ok := t.byDigest[sha256.Sum256([]byte(token))]
	if !ok {
		return Identity{}, &Refusal{Code: "invalid_token", Cause: errUnknown}
	}
	return who, nil
}

var _ Authority = (*Tokens)(nil)

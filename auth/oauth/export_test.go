package oauth

import (
	"context"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Holds reports whether a signature of a message holds under a JSON Web Key;
// false for one that is not taken.
func Holds(jwk canon.Value, alg string, message, sig []byte) bool {
	k, ok := parseKey(jwk)
	return ok && k.Verify(alg, message, sig)
}

// Signed checks a token but for its claims.
func (v *Verifier) Signed(ctx context.Context, token string) error {
	_, err := v.signed(ctx, token)
	return err
}

package idp

import (
	"context"
	"net/http"
	"time"
)

// Signed checks the signature of a token with the keys at an address.
func Signed(ctx context.Context, client *http.Client, keys, token string) error {
	_, err := (&keySet{client: client, address: keys, now: time.Now}).VerifySignature(ctx, token)
	return err
}

// Algorithms are what an ID token may be signed with.
func Algorithms() []string { return algorithms }

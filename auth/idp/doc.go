// Package idp signs people in at an identity provider (OpenID Connect Core
// 1.0, authorization code flow with PKCE).
//
// In: the provider's issuer, our client, and which of its groups mean which of
// ours; later the address to which the provider sent the browser back. Out:
// where to send a browser, and who came back as an [auth.Identity]. It fails
// with ErrConfig, ErrUnavailable where the provider cannot be asked, and
// ErrRefused for an answer that proves nobody.
//
// It promises that an answer is taken once, by the browser that asked, within
// [FlowLife]; that issuer, audience, nonce, times, algorithm and signature of
// the ID token are checked; and that a fresh login is one that the provider
// says was just made. It must never take an identity from anything but an ID
// token that it asked for itself, nor keep a token.
package idp

// Package oauthclient gets access tokens for the gateway itself, from an
// authorization server that a server behind the gateway trusts: with client
// credentials (RFC 6749 §4.4), or by exchanging a token of the gateway's own,
// such as that of its workload (RFC 8693).
//
// In: where the authorization server is, and where the secrets are. Out: an
// access token, kept until shortly before it ends.
//
// It fails where the server cannot be reached, refuses, or answers with
// something else than a bearer token. Its errors say the status and a code of
// RFC 6749 §5.2, never a secret, a token or the body of an answer.
//
// It promises no redirects, no proxy from the environment, TLS to everything
// that is not this machine, and bounded answers. It must never be given a
// token of a client of the gateway.
package oauthclient

// Package passkey registers passkeys (WebAuthn Level 3) for one site.
//
// In: the public origin of the pages, a challenge, and what a browser answers
// when it made a passkey. Out: the public key, ready to verify assertions with
// package keys. It fails with ErrSite for an origin that cannot have passkeys,
// and with ErrRegistration for an answer that does not hold.
//
// It promises that the key was made by an authenticator that verified its
// user, for this origin and this challenge. It must never keep a secret, ask
// for attestation (it would tell which device somebody owns), or verify a
// vote: that needs no library.
package passkey

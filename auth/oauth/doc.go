// Package oauth checks access tokens of an authorization server: JWTs in the
// profile of RFC 9068, signed with a key of the server's JWK set.
//
// In: the text of a token. Out: its [Claims], or an error that says which rule
// it breaks and never holds a part of it. ErrScope says that the token is good
// but not for this; everything else that is the token's fault is ErrToken; an
// error that is neither says that the keys could not be had.
//
// It promises that issuer, audience, times, type, algorithm and signature are
// checked on each token, that the algorithm is the key's and never the token's
// choice, and that keys are asked for again when an unknown one is named, but
// not more often than [MinRefresh], unless somebody asks for that (Refresh). It
// must never follow an address or take a key that a token brings.
package oauth

// Package auth knows the humans who approve: their accounts, their logins
// and their votes.
//
// In: a name and a password typed by a person, or the cookie token of an
// earlier login. Out: an [Account], a login token, or a signed vote. It fails
// with the errors of this package and with those of the [Book]; an error
// never says which of name and password was wrong and never holds either.
//
// It promises that passwords are kept as Argon2id hashes and login tokens as
// digests, that a guess costs the same for a known and an unknown name and
// costs more the more guesses there were, and that a vote exists only after
// the voter's own password was checked for that one vote. It must never make
// a vote from a token, a login or a configuration: an agent holds those.
package auth

// Package warrant is the signed permission that a remote executor checks
// against what it really received (docs/spec/warrant.md).
//
// In: at the gateway, what was decided and committed; at the executor, an
// envelope and the bytes of the arguments that it is about to run. Out: a DSSE
// envelope (Ed25519), or a [Verdict] from a closed list.
//
// A warrant is refused that is not in the one form, that no trusted key has
// signed, that is for another executor, tool, action or attempt, that is early
// or late, whose arguments are not exactly those that were decided on, or that
// was used here before. Nothing of a payload is read before its signature
// holds.
//
// It promises that an executor which runs only on [OK] runs what was decided,
// verbatim. That the approval was consumed and the attempt recorded is the
// gateway's part, which signs only after both are durable; this package never
// decides, and knows nothing of policies or stores. It must never print an
// argument value.
package warrant

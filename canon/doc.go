// Package canon is strict JSON: one immutable value tree, its decoder, its
// RFC 8785 encoder and SHA-256 digests.
//
// In: bytes from anywhere. Out: a [Value], its canonical bytes, or
// [Violations] that point at the place and never print a value.
//
// It promises that two texts with one meaning give one canonical form, that
// nothing is rounded, replaced or dropped silently, and that time and memory
// are linear in the input. It must never guess: what it cannot represent
// exactly is refused.
//
// It imports nothing of this module and only the standard library, so that
// evidence can be verified without the engine.
package canon

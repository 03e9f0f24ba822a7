// Package canon is strict JSON: one immutable value tree, its decoder, its
// RFC 8785 encoder and SHA-256 digests.
//
// In: bytes from anywhere. Out: a [Value], its canonical bytes, or
// [Violations] that point at the place by JSON Pointer and byte offset, name
// one of the Rule constants and never print a value.
//
// [Decode] is the value decoder: any root, and numbers become the double that
// RFC 8785 prints. Options.Exact and Options.FoldTwins make it the decoder of
// arguments: a number that would be rounded and names that differ only in case
// are refused. In both, what readers of JSON are known to disagree about is
// refused: duplicate names, lone surrogates, invalid UTF-8, -0, numbers beyond
// the range of a double, a byte order mark, anything behind the value.
//
// It promises that two texts with one meaning give one canonical form, that
// what [Check] accepts is written without loss and reads back equal, and that
// time and memory are linear in the input, with limits on size, nesting and
// number of values that can be moved within a range and not switched off. It
// must never guess, repair or drop anything.
//
// It imports nothing of this module and only the standard library, so that
// evidence can be verified without the engine.
package canon

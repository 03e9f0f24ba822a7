// Package decode is the first step: it reads the raw arguments that a model
// proposed.
//
// In: the exact bytes. Out: one [canon.Value] that is an object and whose
// numbers are exact, or [canon.Violations] with the rule, the JSON Pointer,
// the byte offset and a hint that a model can follow.
//
// It promises that what it accepts has exactly one reading: no name twice, not
// even in another case, no number that a reader may round, no character that
// is not Unicode. It never repairs, never guesses and never takes empty input
// for {}. Its errors hold no value, and no member name that Options.Known does
// not vouch for. Time and memory are linear in the input.
package decode

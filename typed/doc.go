// Package typed carries values between JSON and Go types without loss.
//
// In: a Go type, and a [canon.Value] that has passed its schema. Out: the
// JSON Schema of the type ([Schema]), and a filled Go value ([Decode]). Both
// read a type by one set of rules, so that they agree: whatever the schema
// accepts, Decode reads, and nothing else.
//
// The rules: exported struct fields under their json name, embedded structs
// flattened, fields without omitempty, omitzero or a pointer required, no
// other members; bool, string, integers within ±(2^53-1) and within their Go
// type, float64, slices, arrays, maps with string keys, and [canon.Value] for
// any JSON. null is never accepted, so that it cannot be taken for a zero.
//
// [Schema] and [Decode] fail with a [TypeError] on a type that has no exact
// form: float32, byte slices, interfaces, channels, functions, recursive
// types, types with a JSON or text form of their own (time.Time among them).
// Decode fails with [canon.Violations] on a value that does not fit.
//
// It must never match names without regard to case, drop a member, round or
// truncate a number, print a value, or leave a target half filled.
package typed

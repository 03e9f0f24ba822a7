// Package snapshot freezes one argument object: what is decided on, shown,
// approved and run from here on are these bytes and no others.
//
// In: a [canon.Value] after the schema and the resolvers, or a Go value from
// a typed caller, a transform or a resolver. Out: a [Snapshot] with its
// RFC 8785 text, and a [Proposal] or [Handoff] with its hash.
//
// It fails with [canon.Violations] for whatever is not in the strict domain
// (docs/spec/snapshot-domain.md): nothing is converted, dropped or rounded to
// make it fit, and no method of a caller's type is ever called.
//
// It promises that a Snapshot never changes, that readers get a decode of the
// frozen bytes and nothing else ([Snapshot.Value] one that cannot be changed,
// [Snapshot.View] one of the reader's own each time), and that equal snapshots
// have equal bytes. It must never compute argsCanonicalJson twice
// for one proposal, and never hand out memory that it keeps.
package snapshot

// Package execute runs a tool exactly once with exactly the frozen bytes
// (semantics §9).
//
// In: a permit, which only the root package can make, and a handler. Out: how
// the run ended: succeeded, failed (proved, or reported by the tool) or
// uncertain. A timeout, a lost connection or a panic is uncertain, never a
// guess. Of an attempt whose end nobody knows it can ask the provider
// (Lookuper), or have it refused for ever (Canceller).
//
// It must never parse a schema, resolve, decide or approve; the test of
// import bans holds it to that.
package execute

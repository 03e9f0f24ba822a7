// Package replay decides recorded calls again, under another policy.
//
// In come the rows of a store (a [Source]) and a [Candidate]: an engine with
// the catalog that it was loaded for. Out comes a [Report]: which calls would
// be decided otherwise and by which rules, which approvals that are open now
// would be void, and what could not be decided again, and why.
//
// Nothing runs, nothing is asked of resolvers, nothing is written. A decision
// is made again from exactly what the first one read: the frozen arguments,
// targets, changes and resolver evidence of the row, and the facts that were
// recorded beside it ([policy.Facts]). Where something of that is missing or
// the tool is not the one of then, the call is unreplayable; it is counted
// with the reason and never guessed at. The same store, candidate and span
// give the same report.
//
// [Run] fails where the source does. [ParseExpected] fails with the place of
// the fault.
//
// It must never show an argument value, and never write to a store.
package replay

// Package resolve replaces what was said by what is meant: aliases by stable
// ids ([Table]), amounts with units and currency names by minor units and a
// code ([Money]), quantities by whole base units ([Quantity]), paths by real
// paths below a root ([Path]), URLs, addresses and times by their one spelling
// ([URL], [Email], [Instant]).
//
// In: the arguments after the schema and the rules of the tool's catalog
// entry. Out: the arguments with the canonical results in place of their
// sources, every change, and for each rule the evidence of who answered
// ([Answered]), so that the same question can be asked again before the run
// and its answer compared ([Compare]).
//
// It fails with [canon.Violations] whose rules are [RuleUnresolved] and
// [RuleAmbiguous] (or a resolver's own), pointing at the source member. A
// resolver that breaks or panics refuses the call.
//
// It promises that two spellings of one thing give one tree, that rules run
// in their written order, and that a result member never comes from the
// caller. It must never guess, round, convert a currency, or replace a frozen
// value by a newer answer.
package resolve

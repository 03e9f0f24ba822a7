// Package attacktest drives one table of attacks (testdata/vectors/attacks.json)
// against any way into the product, so that all of them can be held to equal
// outcomes: in one process, and as processes with pipes and listeners.
//
// In: the table, and entries, each of which proposes a call and reads what the
// answer says. Out: failures of the test for each case whose outcome is not the
// one in the table, or not that of the first entry, or that ran what it should
// not. It decides nothing by itself, starts nothing, and must be imported by
// tests only.
package attacktest

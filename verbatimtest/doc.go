// Package verbatimtest is for people who embed verbatim: a gate on a
// throw-away store, a clock that the test moves, people who vote with real
// signatures, and attack cases to run against your own tools.
//
// In: tools and a policy. Out: a Fixture. It fails the test where it cannot
// be set up. It must never be used outside tests: its keys are public.
package verbatimtest

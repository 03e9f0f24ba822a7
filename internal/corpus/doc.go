// Package corpus walks published tool calls through a real gate: the expected
// calls of tau-bench (retail, airline), and the user's and the attacker's calls
// of AgentDojo (banking, slack).
//
// In: the folder of the published suites, the folder of the catalogs and
// policies (examples/retail, examples/corpus), and a function that makes a gate. Out: a Report
// with one Result for each call, and its table.
//
// It fails where a suite, catalog or policy cannot be read, where a call ends
// in something that is no answer (failed, uncertain), and where a tool ran
// without an answer that says so, or the other way round.
//
// It promises that catalogs and policies see a call for the first time when it
// is walked: what they know beforehand is what an operator knows, namely which
// orders, reservations and payment methods are whose, and whom the user pays.
// It must never read policy out of the expected calls, or count a call that it
// did not walk.
package corpus

// Package auditbench measures what the signed log costs: make bench-audit.
//
// In: nothing. Out: figures on standard output, as ratios where two things are
// compared. It holds tests only. Those without the build tag bench are short
// and assert what does not depend on time: that proofs hold, how long they
// are, and that both checkers read a long log.
package auditbench

// Package auditbench measures what the signed log costs: make bench-audit.
//
// In: nothing. Out: figures on standard output, as ratios where two things are
// compared. It holds tests only, behind the build tag bench.
package auditbench

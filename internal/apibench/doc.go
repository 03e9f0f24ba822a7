// Package apibench measures the decision API over loopback, beside a bare
// net/http server that sends the body of the same request back, and beside the
// disk, in one run. Only ratios of one run mean anything.
//
// In: nothing but the test of this package (build tag bench, Linux), which has
// the whole way inside: endpoint with a token, hub, gate, Cedar policy, signed
// warrants and receipts, the signed log, SQLite on the disk of the test's directory. Client and server are one
// process with two connections of TCP between them. Out: ratios, and which of the
// bars they meet; it fails only where something does not work. It must never be
// imported.
package apibench

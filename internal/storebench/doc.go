// Package storebench measures the stores beside the disk and the databases
// that they stand on, in one run: a durable decision beside one fdatasync, a
// whole execution beside a raw commit of one row, and the list of what waits
// beside a million rows that were decided.
//
// In: nothing but the test of this package (build tag bench, Linux). Out:
// ratios, and which of the bars they meet; it fails only where something does
// not work. It must never be imported.
package storebench

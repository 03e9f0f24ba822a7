// Package bench compares Verbatim with the libraries that one would otherwise
// use, in one run, interleaved, as ratios of medians. It is a module of its
// own so that the product does not depend on the peers.
//
// In: texts, schemas and policies made here. Out: tables on standard output,
// each with the bars that we set ourselves and whether they hold. It fails
// where a subject gives a wrong answer, never because one is slow: the time
// of a busy machine decides nothing. It must never be imported.
package bench

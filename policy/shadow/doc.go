// Package shadow runs a candidate policy beside the live one.
//
// In come calls that the live policy has just decided on. Out come verdicts,
// what the candidate would have said and whether that is another decision, to
// a [Sink] and as counts.
//
// A [Watcher] promises that the candidate never authorizes, never blocks and
// never fails a call. [Watcher.Observe] hands the call over and returns: it
// waits for nothing, and where the candidate is slower than calls come, calls
// are dropped and counted. One goroutine asks the candidate, so that it takes
// at most one core, and at most [MaxQueuedBytes] wait for it. A candidate
// that panics, fails or is slow has that recorded as its decision, which is a
// deny as it would be live; one that does not answer at all is set aside.
//
// [File] is a sink that keeps verdicts in a directory, as JSON lines without
// argument values, and [Read] reads them back.
//
// It must never show the live path what the candidate said.
package shadow

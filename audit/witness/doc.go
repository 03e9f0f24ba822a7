// Package witness keeps the checkpoints of logs where whoever holds a log
// cannot rewrite them, and signs only what goes on from there (C2SP
// tlog-witness).
//
// In: checkpoints that a known log has signed, each with a proof that it goes
// on from the one before. Out: a signature with the time, once the checkpoint
// is on the disk; or a refusal with the status that the protocol demands. A
// [Client] is the other side: it hands a log's checkpoints to a witness.
//
// It promises that of one log it never signs two histories: the check and the
// write are one step, one process alone takes it, and what was not written was
// not signed. It must never
// sign for a log that it was not told of, and never look into a log. It
// imports nothing that runs or decides.
package witness

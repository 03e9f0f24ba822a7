// Package sqlite keeps actions in one SQLite file (WAL, synchronous FULL).
//
// In: the verbs of verbatim.Store. Out: the rows that they moved, read back
// from the database, or a refusal of package action beside the row that won.
// Anything else is an error of the disk or of the database; the transaction
// is then undone as a whole and no row comes with the error. Where the disk
// failed while it synced, what was undone may still be found after a crash:
// a run that was refused so is uncertain then, never run twice.
//
// One process owns the file; a second one gets [ErrOwned]. One goroutine
// writes. It takes what has queued up, runs the verbs one after the other and
// commits them together, so that many callers share one sync; where one fails
// that has written something, all run again, each in a savepoint of its own. A
// verb answers only after the commit that holds it. The writing connection
// keeps what it sees of the file from one transaction to the next, until it
// finds that somebody else has written. Reads run beside it on connections of
// their own, each in one snapshot.
//
// The records of one commit stand in one row of the log, a pack: the leaves one
// after the other, most in a shorter form from which they are made again byte for
// byte when somebody reads them, and their salts beside them, which alone ever
// change, to zeros, when they are forgotten. A record is in the database at the end of
// its transaction; whoever asks for records within it has the pack written
// first.
//
// The record of an allowed read takes a shorter way: one write to a journal
// beside the file (on Linux, where the file system keeps room that it has given,
// one copy into memory that is the file's), from which the writing goroutine takes it into the log
// with the next verb, or after a moment. A killed process leaves it there, and
// the next opener takes it in. Whoever reads the log through the store sees
// it at once.
//
// It promises that a row and its audit record are on the disk before a verb
// answers, that every edge is checked by compare-and-swap and again by
// triggers, that time as the store sees it never goes back, and that stored
// arguments which no longer hash to their proposal hash are refused. A clock
// that was ahead holds the store's time until the real one has caught up:
// things end early then, never late. It must
// never store arguments, previews or results unsealed, and never start while
// durability is off.
//
// What every store does alike stands in packages verbs and tables; here is what
// only this one does.
package sqlite

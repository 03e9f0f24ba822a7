// Package postgres keeps actions in one PostgreSQL database (15 or later)
// that several gateways share.
//
// In: the verbs of verbatim.Store. Out: the rows that they moved, read back
// from the database, or a refusal of package action beside the row that won.
// Anything else is an error of the connection or of the database. [ErrUnknown]
// then says that a commit may or may not have happened; every other error
// says that nothing did.
//
// Each verb is one transaction (READ COMMITTED) on the primary. It locks the
// row that it moves, compares state and fence again in the UPDATE, and relies
// on unique keys where there is no row yet. Locks are taken in one order:
// key, action, accounts, then rules and stops. The last statement of a verb
// travels with its COMMIT; the number of the transaction is known before
// that. What certainly did not commit is tried again; a commit whose answer
// was lost is looked up by the random id of its record on a new connection,
// and a commit point that cannot be told is never run.
//
// Callers who ask for the same kind of thing at once share a transaction, or
// a question. Who is alone never waits for others. Whoever is in the way of
// the others, because of a key, a stop, a limit or a row that somebody else
// has locked, goes alone, and so does everybody where the shared transaction
// did not happen: each is told what would have been said to it alone.
//
// It promises that a row and its audit record are on the disk (and on a
// synchronous standby, where one is demanded) before a verb answers, that time
// as the store sees it goes back at most 100 ms when another server takes
// over, and that a lease taken on one timeline is void on the next. Records
// are numbered behind the changes, so that changes do not wait for each other.
// It must never read authority from a standby, store arguments, previews or
// results unsealed, or start while durability is off.
//
// What every store does alike stands in packages verbs and tables; here is what
// only this one does.
package postgres

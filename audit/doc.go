// Package audit is the record of what happened: one entry for every change
// of state, written in the transaction that makes the change.
//
// In: a [Record]. Out: its leaf body (RFC 8785, at most [MaxLeaf] bytes), the
// RFC 6962 hash of that leaf, and salted commitments to what the record must
// not hold. It fails when a record is too long or names an event that is not
// in the closed list. For stores there is a shorter form of most leaves, which
// expands to the leaf again, and to nothing else that is one.
//
// It promises that every attested field is inside the hashed bytes and that
// a leaf read back is byte for byte what was written, in whichever form it was
// kept. It must never hold an argument value, and it imports only canon and
// keys, so that evidence can be checked without the engine.
package audit

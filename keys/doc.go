// Package keys signs, seals and keeps the keys for both.
//
// In: a directory that only its owner can read, and bytes. Out: DSSE
// envelopes (Ed25519), sealed bytes (AES-256-GCM), or an error that never
// holds a key or a plain text. A [Ring] is the directory: one file for each
// [Purpose], made on first use. A file lists the current key first and older
// keys after it, so that a key can be replaced while what it signed or sealed
// stays readable.
//
// It promises that a key signs for one purpose only, that an envelope is
// verified before its payload can be read, and that sealed bytes open only
// with the tenant, row and field that they were sealed for. It must never
// write a key anywhere but into its file, and never use a key file that
// others can read.
package keys

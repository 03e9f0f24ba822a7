// Package verbs is what every store must hold to, without a database: which
// rows may be made, which edge a verb takes, who may take it, what must be
// true at the commit point, what the record of it says, and what a check of a
// whole store finds wrong ([Report]). What stores do alike with their tables
// stands in package tables.
//
// In: rows, people and times as a store read them inside its transaction.
// Out: the row as it is to be written and the record that goes with it
// ([Move]), or a refusal of package action. Nothing else can fail, except
// where stored text is not what a store wrote ([ErrTampered]) or a caller
// asks for what no caller may ask for ([ErrInvalid]).
//
// It promises that two stores which use it answer alike. It must never touch
// a database, read a clock, or know a session: rows are locked, compared and
// committed by the store alone.
package verbs

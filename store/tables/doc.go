// Package tables keeps what every SQL store keeps alike: accounts with their
// invitations, delegations, passkeys and logins ([Book]), standing grants with
// their signatures and uses ([Grants]), which rules are in force ([Policies]),
// who has been told the log up to where ([Followers]), what people do to
// actions ([People]), what limits have left ([Limits]), what is stopped, what
// is past its time ([Forget]), and what a restore must end. It is written once, in the SQL that
// the stores' databases share, so that a rule is mended in all of them or in
// none.
//
// In: verbs, and a store's transactions ([DB]). Out: rows, or a refusal
// of package auth or action. Anything else is an error of the store, passed
// on as it came.
//
// It promises that two stores which embed them check the same in the same
// order, refuse with the same errors and record the same. Statements number
// their parameters ($1, $2...), and change nothing that they have not looked
// at under a [Tx.Hold] or in their own condition. It must never know which database
// it speaks to, read a clock, or keep anything between two verbs. What a
// store does in its own way, because it locks, batches or remembers, stays
// with the store.
package tables

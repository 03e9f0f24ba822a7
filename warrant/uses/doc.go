// Package uses has memories of warrants that several processes share, for
// executors that are more than one process: [Directory] for those of one
// machine, [Table] for those that share a database.
//
// In: a warrant that was checked in every other way. Out: warrant.OK for the
// first who presents it, warrant.Replayed for everybody after, and
// warrant.OtherAttempt where its attempt was sent again since; or an error, on
// which nothing may run (the checker then says warrant.Unavailable).
//
// Both promise that of all processes together at most one gets OK for an
// attempt under one fence, that a use is on the disk (for a Table: as durable
// as a commit of its database) before OK is said, that what was signed before
// the memory was made counts as used, and that a memory which somebody emptied
// refuses until it is made again. Neither must ever forget a use before its
// warrant has ended, decide by anything but the warrant, or print more of it
// than the id of its action.
package uses

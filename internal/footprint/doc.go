// Package footprint keeps small what a process that stays holds of memory.
//
// In: nothing. Out: how many bytes were let go.
//
// A program of tens of megabytes reads most of its file while it starts, and
// the system maps 64 KiB around each page that is read. Nearly all of it is
// never looked at again, but counts as the memory of the process until the
// machine is short of it. [GiveBack] lets go of it: what is needed again is
// mapped again from the system's cache, without a disk, in some microseconds.
//
// It can fail where the system does not say what is mapped; then it has let go
// of nothing. It promises to touch only pages that are equal to the file. It
// must never let go of a page that the process could have written.
package footprint

// Package eager looks for a moment whether something has come before it waits.
//
// In: streams of the operating system. Out: what they bring, as any reader
// gives it. To be put to sleep and woken again takes as long as many a server
// takes to answer, and as many a client takes to ask again; so whoever waits
// for one that has been quick of late looks for it, up to 50 us, and sleeps
// only then.
//
// Nothing can fail that does not fail without it. It promises that a stream is
// read in order, by one reader at a time, and that looking in vain becomes
// rare: see [Pace]. It must never look on a single processor, where that keeps
// the other side from its work, nor where somebody else could use the
// processor: its callers say when.
package eager

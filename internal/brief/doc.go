// Package brief makes system calls that end at once, and has nobody watch them.
//
// In: descriptors that do not block, and what to write to them. Out: what the
// system says. Go's runtime wakes its watcher at the first system call after
// all of its processors were idle, and the watcher then looks every 20 us
// whether the call lasts, until all are idle again. Who sleeps between two
// small messages pays for that with each of them, more than a small message
// costs; and a call that cannot block needs no watcher.
//
// Errors are those of the system. On Linux the runtime is not told of a call;
// elsewhere, and under the race detector, it is, and on Windows nothing can be
// tried without waiting ([ErrNever]). It promises that a [Writer] writes what
// its stream would have written, in that order. It must never be used on what
// may block: the goroutines of that processor would wait as well.
package brief

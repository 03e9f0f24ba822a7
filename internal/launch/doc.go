// Package launch pins how the servers of a home are started: the program by
// its path and content, its arguments, and what it gets of the environment.
//
// In: a command as somebody wants to run it, and the book of pins that an
// operator has approved. Out: whether it is the pinned one, where it is not,
// and the environment that it gets. A server without a pin may be started in
// any way; one with a pin in that way only.
//
// It fails where the book cannot be read: then nothing is started. It must
// never print the value of a variable, nor keep one: a pin holds digests.
//
// It cannot see what a program loads by itself, nor a file that is swapped
// between the look and the start.
package launch

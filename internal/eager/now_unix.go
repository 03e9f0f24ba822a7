//go:build unix

package eager

import "syscall"

// errNothingYet says that a stream has nothing to read at the moment.
const errNothingYet = syscall.EAGAIN

// readNow reads a descriptor that does not block.
func readNow(fd uintptr, p []byte) (int, error) { return syscall.Read(int(fd), p) }

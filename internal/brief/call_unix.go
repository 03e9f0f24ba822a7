//go:build unix && (!linux || race)

package brief

import "syscall"

// ErrNothingYet says that a stream has nothing to read, or no room, at the moment.
const ErrNothingYet = syscall.EAGAIN

// Read reads a descriptor that does not block.
func Read(fd uintptr, p []byte) (int, error) { return again(syscall.Read, fd, p) }

// write writes to a descriptor that does not block.
func write(fd uintptr, p []byte) (int, error) { return again(syscall.Write, fd, p) }

func again(call func(int, []byte) (int, error), fd uintptr, p []byte) (int, error) {
	for {
		if n, err := call(int(fd), p); err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

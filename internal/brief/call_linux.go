//go:build !race

package brief

import (
	"syscall"
	"unsafe"
)

// ErrNothingYet says that a stream has nothing to read, or no room, at the moment.
const ErrNothingYet = syscall.EAGAIN

// Read reads a descriptor that does not block.
func Read(fd uintptr, p []byte) (int, error) { return call(syscall.SYS_READ, fd, p) }

// write writes to a descriptor that does not block.
func write(fd uintptr, p []byte) (int, error) { return call(syscall.SYS_WRITE, fd, p) }

func call(number, fd uintptr, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, _, no := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch no {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, no
		}
	}
}

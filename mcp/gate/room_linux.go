package gate

import (
	"os"
	"syscall"
)

// fGetPipeSize is F_GETPIPE_SZ (fcntl(2)); package syscall does not name it.
const fGetPipeSize = 1032

// roomOf is what a pipe takes without a reader, in bytes: half of what the
// kernel says that it has, because small writes may leave half of each page.
// Anything else takes pipeRoom.
func roomOf(out any) int64 {
	f, ok := out.(*os.File)
	if !ok {
		return pipeRoom
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return pipeRoom
	}
	size := int64(0)
	err = raw.Control(func(fd uintptr) {
		if n, _, no := syscall.Syscall(syscall.SYS_FCNTL, fd, fGetPipeSize, 0); no == 0 {
			size = int64(n)
		}
	})
	if err != nil {
		return pipeRoom
	}
	return max(pipeRoom, size/2)
}

package pgtest

import "syscall"

// enough is the room that the servers of a test program may take in memory.
const enough = 4 << 30

// memory is a directory in memory with enough room, or "".
func memory() string {
	const dir = "/dev/shm"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || int64(fs.Bavail)*fs.Bsize < enough || fs.Type != tmpfs {
		return ""
	}
	return dir
}

const tmpfs = 0x01021994

package sqlite

import (
	"os"
	"slices"
	"syscall"
)

// The file systems that write where they have once given room (statfs(2)).
// One that copies on write may find its disk full at any page that was full
// before.
var keepRoom = []uint32{0xef53, 0x01021994} // ext4, tmpfs

// mapFile gives an empty file room and returns it as memory, which outlives the
// process as what is written does; nil where the file system does not promise
// that the room is there, or has none.
func mapFile(f *os.File) []byte {
	fd := int(f.Fd()) // of a regular file, which blocks anyway
	var system syscall.Statfs_t
	if syscall.Fstatfs(fd, &system) != nil || !slices.Contains(keepRoom, uint32(system.Type)) {
		return nil
	}
	if syscall.Fallocate(fd, 0, 0, mapRoom) == nil {
		if memory, err := syscall.Mmap(fd, 0, mapRoom, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED); err == nil {
			return memory
		}
	}
	_ = f.Truncate(0) // if that fails, zeros stand where the first frame will
	return nil
}

func unmap(memory []byte) error {
	if memory == nil {
		return nil
	}
	return syscall.Munmap(memory)
}

//go:build unix

package filelock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrTaken
	}
	if err != nil {
		return fmt.Errorf("lock the file: %w", err)
	}
	return nil
}

package filelock

import (
	"errors"
	"fmt"
	"os"
)

// ErrTaken says that somebody else holds the lock.
var ErrTaken = errors.New("the lock is taken")

// Lock is held until it is freed or the process ends.
type Lock struct {
	file *os.File
	path string
}

// Take takes the lock, or fails at once, with ErrTaken if somebody else has it.
func Take(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{f, path}, nil
}

// Free lets another take the lock.
func (l *Lock) Free() error { return l.file.Close() }

// Held reports whether the file is still the one that is locked. If somebody
// removed it, another could take a new one beside this.
func (l *Lock) Held() bool {
	mine, err := l.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.path)
	return err == nil && os.SameFile(mine, there)
}

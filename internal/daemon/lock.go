package daemon

import (
	"errors"
	"fmt"
	"os"

	"github.com/seed-de4804fb/verbatim/internal/config"
)

// ErrRunning says that a daemon serves the home already.
var ErrRunning = errors.New("a daemon serves this home already")

// Lock is held by the one daemon of a home. The system frees it when the
// process ends, however it ends.
type Lock struct {
	file *os.File
	path string
}

// TakeLock makes this process the daemon of a home, or fails with ErrRunning.
func TakeLock(h config.Home) (*Lock, error) {
	path := h.Path("daemon.lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the daemon's lock: %w", err)
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{f, path}, nil
}

// Free lets another process become the daemon.
func (l *Lock) Free() error { return l.file.Close() }

// held reports whether the lock still guards its home. If somebody removed
// the home, another daemon could take a new lock beside this one.
func (l *Lock) held() bool {
	mine, err := l.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.path)
	return err == nil && os.SameFile(mine, there)
}

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
type Lock struct{ file *os.File }

// TakeLock makes this process the daemon of a home, or fails with ErrRunning.
func TakeLock(h config.Home) (*Lock, error) {
	f, err := os.OpenFile(h.Path("daemon.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the daemon's lock: %w", err)
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{f}, nil
}

// Free lets another process become the daemon.
func (l *Lock) Free() error { return l.file.Close() }

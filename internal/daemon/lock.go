package daemon

import (
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/filelock"
)

// ErrRunning says that a daemon serves the home already.
var ErrRunning = errors.New("a daemon serves this home already")

// Lock is held by the one daemon of a home. The system frees it when the
// process ends, however it ends.
type Lock = filelock.Lock

// TakeLock makes this process the daemon of a home, or fails with ErrRunning.
func TakeLock(h config.Home) (*Lock, error) {
	l, err := filelock.Take(h.Path("daemon.lock"))
	if errors.Is(err, filelock.ErrTaken) {
		return nil, ErrRunning
	}
	if err != nil {
		return nil, fmt.Errorf("become the daemon of the home: %w", err)
	}
	return l, nil
}

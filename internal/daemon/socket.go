package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/seed-de4804fb/verbatim/internal/config"
)

// maxSocketPath is the longest path of a Unix socket that every system takes
// (sun_path: 104 bytes on macOS, 108 on Linux and Windows, with a final zero).
const maxSocketPath = 103

// listen opens the control socket of a home, for its user only. The caller
// holds the home's lock, so a socket that lies there belongs to nobody.
func listen(h config.Home) (net.Listener, string, error) {
	path := h.Path("daemon.sock")
	if len(path) > maxSocketPath {
		dir, err := os.MkdirTemp("", "verbatim-")
		if err != nil {
			return nil, "", fmt.Errorf("make a place for the socket: %w", err)
		}
		path = filepath.Join(dir, "daemon.sock")
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("remove the old socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, "", fmt.Errorf("open the socket: %w", err)
	}
	// The directory is the user's own (0700); this is the second lock.
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, "", errors.Join(err, l.Close())
	}
	return l, path, nil
}

// removeSocket takes away what listen made.
func removeSocket(h config.Home, path string) {
	_ = os.Remove(path) // the listener may have done it
	if dir := filepath.Dir(path); dir != string(h) {
		_ = os.Remove(dir) // only if it is empty
	}
}

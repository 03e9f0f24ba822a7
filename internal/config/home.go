package config

import (
	"fmt"
	"os"
	"path/filepath"
)

// HomeVariable names the environment variable that moves the home.
const HomeVariable = "VERBATIM_HOME"

// Home is the directory that holds configuration, store, keys and socket of
// one user's Verbatim.
type Home string

// FindHome returns $VERBATIM_HOME, or "verbatim" in the user's configuration
// directory, and makes it (0700) if there is none. It fails if others may
// read it.
func FindHome() (Home, error) {
	dir := os.Getenv(HomeVariable)
	if dir == "" {
		base, err := os.UserConfigDir()
		if err != nil {
			return "", fmt.Errorf("find the home directory: %w; set %s", err, HomeVariable)
		}
		dir = filepath.Join(base, "verbatim")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the home directory: %w", err)
	}
	return Home(dir), private(dir)
}

// Path returns a file of the home.
func (h Home) Path(name string) string { return filepath.Join(string(h), name) }

// Config is the file of settings.
func (h Home) Config() string { return h.Path("verbatim.yaml") }

// Store is the database.
func (h Home) Store() string { return h.Path("verbatim.db") }

// Keys is the directory of keys.
func (h Home) Keys() string { return h.Path("keys") }

// Catalog is the file that describes tools.
func (h Home) Catalog() string { return h.Path("catalog.yaml") }

// Policy is the directory of rules.
func (h Home) Policy() string { return h.Path("policy") }

// State says where the running daemon is.
func (h Home) State() string { return h.Path("daemon.json") }

// Log is what the daemon writes about itself; it is not the audit log.
func (h Home) Log() string { return h.Path("daemon.log") }

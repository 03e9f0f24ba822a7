//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/internal/config"
)

func TestHomeIsPrivateOrRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "home")
	t.Setenv(config.HomeVariable, dir)
	home, err := config.FindHome()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(string(home))
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o700 {
		t.Errorf("made with mode %04o", mode)
	}
	for _, mode := range []os.FileMode{0o750, 0o705, 0o770} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := config.FindHome(); err == nil || !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("mode %04o: error %v, want one that says what to run", mode, err)
		}
	}
}

//go:build unix

package config

import (
	"fmt"
	"os"
)

// private: who can write the home can change policy and swap keys.
func private(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is open to other users (mode %04o); run: chmod 700 %s", dir, info.Mode().Perm(), dir)
	}
	return nil
}

//go:build unix

package sink

import (
	"errors"
	"os"
)

// syncDir makes a new name in a directory last.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

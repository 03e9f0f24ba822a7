package postgres_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed-de4804fb/verbatim/store/postgres"
)

// FuzzBackupFile: no bytes make the reader of backups do more than refuse,
// and what it takes for whole is what was written.
func FuzzBackupFile(f *testing.F) {
	f.Add(postgres.SmallBackup("action", []byte("rows"), 3))
	f.Add(postgres.SmallBackup("action", bytes.Repeat([]byte{0}, 1<<17), 0))
	f.Add([]byte("V\x00\x00\x00\x01x"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := postgres.ReadBackup(bytes.NewReader(b))
		switch {
		case err != nil && !errors.Is(err, postgres.ErrNoBackup):
			t.Errorf("it cannot be read: %v", err)
		case err == nil && n > len(b):
			t.Errorf("%d migrations in %d bytes", n, len(b))
		}
		for _, cut := range []int{1, len(b) / 2} { // a beginning is never whole
			if err == nil && cut > 0 && cut <= len(b) {
				if _, err := postgres.ReadBackup(bytes.NewReader(b[:len(b)-cut])); !errors.Is(err, postgres.ErrNoBackup) {
					t.Errorf("without its last %d bytes: %v", cut, err)
				}
			}
		}
	})
}

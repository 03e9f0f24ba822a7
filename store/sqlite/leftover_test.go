package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// TestForgettingComesToItsEnd: where somebody reads the journal, what was
// forgotten is left in it. The next one that forgets empties it, though there
// is nothing more to forget.
func TestForgettingComesToItsEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	clock := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	s := openAt(t, path, func() time.Time { return clock })
	read(t, s, "old")
	salt := entriesOf(t, s)[1].Salt // behind the record of the policy
	clock = clock.Add(10 * 24 * time.Hour)
	keep := action.Retention{action.ClassRead: 5 * 24 * time.Hour}

	db := raw(t, path)
	sql(t, db, "BEGIN; SELECT count(*) FROM action")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.ForgetPayloads(ctx, keep); err == nil {
		t.Fatal("a journal that somebody reads passed for an empty one")
	}
	sql(t, db, "COMMIT")
	if _, err := s.ForgetPayloads(t.Context(), keep); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, salt) {
			t.Errorf("a salt that was forgotten stands in store.db%s", suffix)
		}
	}
}

// TestTheJournalOfReadsKeepsNothing that is in the log: retention forgets salts
// there.
func TestTheJournalOfReadsKeepsNothing(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	for i := range 5 {
		read(t, s, fmt.Sprint("read_", i))
		begin(t, s, fmt.Sprint("act_", i)) // takes it in
	}
	for _, suffix := range journals {
		b, err := os.ReadFile(path + suffix)
		if b = bytes.Trim(b, "\x00"); !errors.Is(err, os.ErrNotExist) && (err != nil || len(b) > 0) {
			t.Errorf("%d bytes in store.db%s that are not zero, %v", len(b), suffix, err)
		}
	}
}

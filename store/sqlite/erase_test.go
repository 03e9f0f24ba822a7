package sqlite_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// TestNothingOfAnErasedActionIsLeftInTheFiles looks at the bytes of the file
// and its journals while the store is open, and opens an earlier backup.
func TestNothingOfAnErasedActionIsLeftInTheFiles(t *testing.T) {
	t.Parallel()
	ring, err := keys.OpenRing(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := ring.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	opt := sqlite.Options{Sealer: sealer}
	dir := t.TempDir()
	path := filepath.Join(dir, "store.db")
	s, err := sqlite.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.AddAccount(t.Context(), auth.Account{ID: "acc_op", Key: "op", Name: "Op", Tenant: "acme", Groups: []string{"operator"},
		Active: true, CreatedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	const word = "CANARY-TARGET-7f3a"
	for _, id := range []string{"act_1", "act_2"} {
		a := allowed(t, s, id)
		a.Targets = []snapshot.Target{{Type: "payee", ID: word + id}}
		a.Decision.Reason = "because of " + word + id
		row, err := s.Begin(t.Context(), action.Start{Action: a, Lease: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		finish(t, s, row, action.Succeeded)
	}
	before, err := s.Action(t.Context(), "acme", "act_1")
	if err != nil {
		t.Fatal(err)
	}
	salts, err := s.Entries(t.Context(), audit.Selection{Action: "act_1", Most: 10})
	if err != nil || len(salts) == 0 {
		t.Fatal(err)
	}
	backed := filepath.Join(t.TempDir(), "before.db")
	if _, err := sqlite.Backup(t.Context(), path, backed, opt); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Erase(t.Context(), "acme", "act_1", "acc_op", "asked for"); err != nil {
		t.Fatal(err)
	}
	if err := ring.Erase(keys.Place{Tenant: "acme", Row: "act_1", Shelf: keys.Shelf{Class: byte(before.Class()), Day: keys.DayOf(before.CreatedAt)}}); err != nil {
		t.Fatal(err)
	}

	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	seen := false
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for what, b := range map[string][]byte{"its target": []byte(word + "act_1"), "its proposal hash": before.Hash[:],
			"its fingerprint": before.Fingerprint[:], "a salt": salts[0].Salt} {
			if bytes.Contains(text, b) {
				t.Errorf("%s holds %s", filepath.Base(file), what)
			}
		}
		seen = seen || bytes.Contains(text, []byte(word+"act_2"))
	}
	if !seen {
		t.Error("the other action is not found either: the test is blind")
	}
	if r, err := sqlite.Check(t.Context(), backed, opt); err != nil {
		t.Errorf("the earlier backup: %+v, %v", r, err)
	}
	earlier, err := sqlite.Open(backed, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer earlier.Close()
	gone, err := earlier.Action(t.Context(), "acme", "act_1")
	if err != nil || gone.ErasedAt.IsZero() || gone.Payload.Args != "" || len(gone.Payload.Raw) > 0 || len(gone.Targets) > 0 {
		t.Errorf("the earlier backup opens: %+v, %v", gone, err)
	}
	if _, err := s.Action(t.Context(), "acme", "act_2"); err != nil {
		t.Errorf("the other action: %v", err)
	}
}

// TestTheFileItselfErasesOnlyAsAWhole: the second line behind the program.
func TestTheFileItselfErasesOnlyAsAWhole(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	finish(t, s, begin(t, s, "act_1"), action.Succeeded)
	pending(t, s, "act_2")
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{
		"UPDATE action SET targets = '[]' WHERE id = 'act_1'", "UPDATE action SET hash = NULL WHERE id = 'act_1'",
		"UPDATE action SET erased_at = 1 WHERE id = 'act_1'",
		"UPDATE action SET erased_at = 1, hash = NULL, fingerprint = NULL, targets = '[{}]' WHERE id = 'act_1'",
		"UPDATE action SET erased_at = 1, hash = NULL, fingerprint = NULL, targets = '[]', evidence = '[]', changes = '[]' WHERE id = 'act_2'",
		"UPDATE action SET erased_at = 1, hash = NULL, fingerprint = NULL, targets = '[]', tool = 'x' WHERE id = 'act_1'",
		"UPDATE approval SET nonce = 'x' WHERE action_id = 'act_2'",
	} {
		if err := db.Exec(text); !errors.Is(err, sqlite3.CONSTRAINT) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

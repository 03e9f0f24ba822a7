package sqlite_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

func logKey(t testing.TB) *keys.Signer {
	t.Helper()
	k, err := keys.NewSigner(keys.Checkpoints, bytes.Repeat([]byte{9}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// signedLog takes one turn and returns the newest checkpoint.
func signedLog(t testing.TB, s *sqlite.Store) []byte {
	t.Helper()
	q, err := audit.NewSequencer(s, logKey(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	signed, err := s.LatestCheckpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// verifyAt verifies the log of a file beside its owner, trusting the key that
// tests use for the origins of the checkpoints given.
func verifyAt(t testing.TB, path string, outside ...[]byte) (audit.Report, error) {
	t.Helper()
	l, err := sqlite.OpenLog(path, options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	origin, err := l.Origin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	origins, from := []string{origin}, []audit.Outside(nil)
	for _, signed := range outside {
		c, err := audit.ReadUntrusted(signed)
		if err != nil {
			t.Fatal(err)
		}
		origins, from = append(origins, c.Origin), append(from, audit.Outside{Name: "kept", Signed: signed})
	}
	var vkeys []string
	for _, o := range origins {
		k, err := audit.LogKey(o, logKey(t).Public()[0])
		if err != nil {
			t.Fatal(err)
		}
		vkeys = append(vkeys, k)
	}
	trust, err := audit.NewTrust(vkeys...)
	if err != nil {
		t.Fatal(err)
	}
	return audit.Verify(t.Context(), l, trust, from...)
}

// TestARestoredLogIsAnotherLog: records after the backup are lost, and no
// checkpoint that tells of them may look as if it were of what is there now.
func TestARestoredLogIsAnotherLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Open(path, options(t))
	if err != nil {
		t.Fatal(err)
	}
	lived(t, s)
	early := signedLog(t, s)
	copied := backup(t, path)
	pending(t, s, "lost")
	late := signedLog(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, kept := range [][]byte{early, late} {
		if r, err := verifyAt(t, path, kept); err != nil || r.Complete == 0 {
			t.Fatalf("before: %+v, %v", r, err)
		}
	}
	made, err := sqlite.Restore(t.Context(), path, copied, options(t))
	if err != nil {
		t.Fatal(err)
	}
	s = openAt(t, path, nil)
	origin, err := s.Origin(t.Context())
	if err != nil || origin != made.Log || made.LogBefore == "" || made.Log == made.LogBefore {
		t.Fatalf("log %s, %+v, %v", origin, made, err)
	}
	now := signedLog(t, s)
	for _, kept := range [][]byte{early, late} {
		if r, err := verifyAt(t, path, kept); !errors.Is(err, audit.ErrFaults) {
			t.Errorf("beside a checkpoint of before: %+v, %v", r, err)
		}
	}
	if r, err := verifyAt(t, path, now); err != nil || r.Complete != r.Records {
		t.Errorf("%+v, %v", r, err)
	}
	records, err := s.Records(t.Context(), audit.Filter{Event: audit.Restored})
	if err != nil || len(records) != 1 || records[0].Facts["log"] != made.Log || records[0].Facts["logBefore"] != made.LogBefore {
		t.Errorf("%+v, %v", records, err)
	}
}

// TestTheFileItselfKeepsTheTree: the second line behind the program.
func TestTheFileItselfKeepsTheTree(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	finish(t, s, begin(t, s, "act_1"), action.Succeeded)
	signedLog(t, s)
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{
		"UPDATE tree_part SET hashes = zeroblob(length(hashes))", "UPDATE tree_part SET hashes = zeroblob(3840)", "UPDATE tree_part SET hashes = substr(hashes, 1, 32)",
		"DELETE FROM tree_part", "INSERT INTO tree_part VALUES (1000, zeroblob(32))", "INSERT INTO tree_part VALUES (1, zeroblob(32))",
		"UPDATE head SET size = size - 1", "UPDATE head SET root = zeroblob(32)", "DELETE FROM head",
		"UPDATE checkpoint SET root = zeroblob(32)", "UPDATE checkpoint SET size = size + 1",
	} {
		if err := db.Exec(text); !errors.Is(err, sqlite3.CONSTRAINT) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if r, err := verifyAt(t, path); err != nil || r.Signed != r.Records {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestVerifyFindsWhatWasDoneToTheFile goes around the triggers, as whoever
// owns the file can.
func TestVerifyFindsWhatWasDoneToTheFile(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	finish(t, s, begin(t, s, "act_1"), action.Succeeded)
	finish(t, s, begin(t, s, "act_2"), action.Succeeded)
	signedLog(t, s)
	for name, text := range map[string]string{
		"a record changed":            "UPDATE event_pack SET leaves = (SELECT leaves FROM event_pack WHERE first = 2) WHERE first = 3",
		"a record removed":            "DELETE FROM event_pack WHERE first = 3",
		"the last removed":            "DELETE FROM event_pack WHERE first = (SELECT max(first) FROM event_pack)",
		"all removed":                 "DELETE FROM event_pack",
		"a hash changed":              "UPDATE tree_part SET hashes = CAST(substr(hashes, 1, 96) || zeroblob(32) || substr(hashes, 129) AS BLOB)",
		"records and tree cut off":    "DELETE FROM event_pack WHERE first > 3; UPDATE tree_part SET hashes = substr(hashes, 1, 128); UPDATE head SET size = 3",
		"the log renamed":             "UPDATE log SET origin = 'log.example/x'",
		"the checkpoints removed":     "DELETE FROM checkpoint",
		"another text under its name": "UPDATE checkpoint SET note = replace(note, char(10) || size || char(10), char(10) || (size - 1) || char(10))",
	} {
		copied := filepath.Join(t.TempDir(), "copy.db")
		text = "DROP TRIGGER event_pack_frozen; DROP TRIGGER event_pack_kept; DROP TRIGGER tree_part_grows; DROP TRIGGER tree_part_kept;" +
			"DROP TRIGGER head_forward;" + text
		if err := os.Link(backup(t, path), copied); err != nil {
			t.Fatal(err)
		}
		db, err := sqlite3.Open(copied)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Exec(text), db.Close()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r, err := verifyAt(t, copied); !errors.Is(err, audit.ErrFaults) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

package sqlite_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

func TestSecondOpenerIsRefused(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, spelling := range []string{path, filepath.Dir(path) + "/./store.db", link} {
		if _, err := sqlite.Open(spelling, sqlite.Options{Sealer: fixedSealer(t)}); !errors.Is(err, sqlite.ErrOwned) {
			t.Errorf("%s: error %v, want ErrOwned", spelling, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := sqlite.Open(path, sqlite.Options{Sealer: fixedSealer(t)})
	if err != nil {
		t.Fatalf("after the owner has gone: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNoSealerNoStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	if _, err := sqlite.Open(path, sqlite.Options{}); !errors.Is(err, sqlite.ErrNoSealer) {
		t.Fatalf("error %v, want ErrNoSealer", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Fatal("a file was made")
	}
}

func TestLostSealingKeyIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	old, fresh := bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{8}, 32)
	wrong, err := keys.NewSealer(fresh)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(path, sqlite.Options{Sealer: wrong}); !errors.Is(err, sqlite.ErrSealKey) {
		t.Fatalf("error %v, want ErrSealKey", err)
	}
	rotated, err := keys.NewSealer(fresh, old)
	if err != nil {
		t.Fatal(err)
	}
	again, err := sqlite.Open(path, sqlite.Options{Sealer: rotated})
	if err != nil {
		t.Fatalf("with the old key behind the new one: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAnyPathWorks(t *testing.T) {
	t.Parallel()
	names := []string{"a b.db", "a&b=c.db", "100%25.db", "a#b.db", "ü+.db"}
	if runtime.GOOS != "windows" {
		names = append(names, "a?b.db", ":memory:", "file:x.db")
	}
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		s := openAt(t, path, nil)
		begin(t, s, "act_1")
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRowsSurviveReopening(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	want := begin(t, s, "act_1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Action(t.Context(), "acme", "act_1"); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
	if err := s.Leave(t.Context(), "act_1"); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
	s = openAt(t, path, nil)
	got, err := s.Action(t.Context(), "acme", "act_1")
	if err != nil {
		t.Fatal(err)
	}
	want.Leaf = nil // of the verb, not of the row
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestOrphansOfAnEarlierProcessAreUncertain(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	admin(t, s)
	running, waiting := begin(t, s, "act_run"), pending(t, s, "act_wait")
	held := pending(t, s, "act_held")
	if _, err := s.Vote(t.Context(), action.Vote{ActionID: held.ID, Voter: "acc_ann", Approve: true, Digest: held.Terms.Digest, LoginAt: held.UpdatedAt}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(t.Context(), held.ID, 1<<40); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, path, nil)
	moved, err := s.Expire(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if len(moved) != 1 || moved[0].ID != running.ID || moved[0].State != action.Uncertain || !moved[0].CallerGone {
		t.Fatalf("moved %+v", moved)
	}
	if got, err := s.Action(t.Context(), "acme", waiting.ID); err != nil || !got.CallerGone || got.State != action.PendingApproval {
		t.Fatalf("waiting row %+v, %v", got, err)
	}
	if got, err := s.Claim(t.Context(), held.ID, 1<<30); err != nil || got.Fence != 2 {
		t.Fatalf("claim of an earlier process was not free: %v", err)
	}
}

func TestOnlyTheOwnerCanReadTheFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // rights are in access lists there
	}
	s, path := newStore(t)
	begin(t, s, "act_1")
	for _, name := range []string{path, path + "-wal", path + "-shm", path + ".lock"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}

func TestUnknownSchemaIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"a migration whose text has changed": "UPDATE schema_version SET digest = zeroblob(32) WHERE version = 1",
		"a newer version":                    "INSERT INTO schema_version SELECT max(version) + 1, 'x', zeroblob(32), 0 FROM schema_version",
		"a gap":                              "DELETE FROM schema_version WHERE version = 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, path := newStore(t)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			sql(t, raw(t, path), change)
			if _, err := sqlite.Open(path, sqlite.Options{Sealer: fixedSealer(t)}); !errors.Is(err, sqlite.ErrMigration) {
				t.Fatalf("error %v, want ErrMigration", err)
			}
		})
	}
}

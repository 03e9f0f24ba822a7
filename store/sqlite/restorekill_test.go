package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// The child process puts the backup restoreFrom in the place of the store
// killPath; restoreCount asks for more cycles than the short form.
const (
	restoreFrom  = "VERBATIM_RESTORE_FROM"
	restoreCount = "VERBATIM_RESTORE_KILLS"
)

func putBack(path, from string) error {
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		return err
	}
	_, err = sqlite.Restore(context.Background(), path, from, sqlite.Options{Sealer: sealer})
	return err
}

// TestAKilledRestoreLosesNothing kills a process at random moments of a
// restore. Whoever opens the store then finds the one of before, whole, or the
// restored one, or is told to run the restore again; never an empty one.
func TestAKilledRestoreLosesNothing(t *testing.T) {
	t.Parallel()
	cycles := 30 / shortened
	if text := os.Getenv(restoreCount); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		cycles = n
	}
	s, source := newStore(t)
	lived(t, s)
	copied := backup(t, source)
	begin(t, s, "after the backup")
	whole := backup(t, source)
	found := map[string]int{}
	for range cycles {
		found[killRestore(t, whole, copied)]++
	}
	t.Logf("%d kills: %v", cycles, found)
}

// killRestore returns what it found after the kill.
func killRestore(t *testing.T, before, from string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	text, err := os.ReadFile(before)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killPath+"="+path, restoreFrom+"="+from)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Duration(rand.IntN(50_000))*time.Microsecond, func() { cmd.Process.Kill() })
	cmd.Wait() // killed, or done before
	timer.Stop()

	s, err := sqlite.Open(path, options(t))
	switch {
	case errors.Is(err, sqlite.ErrRestoring):
		if _, err := sqlite.Restore(t.Context(), path, from, options(t)); err != nil {
			t.Fatalf("the restore does not go on: %v", err)
		}
		holds(t, path, action.Uncertain)
		kept(t, path)
		return "to be run again"
	case err != nil:
		t.Fatal(err)
	}
	row, err := s.Action(t.Context(), "acme", "act_2")
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if holds(t, path, row.State); row.State == action.Executing {
		return "as before"
	}
	kept(t, path)
	return "restored"
}

// holds fails unless the store at path has no fault and act_2 in a state; one
// of before the restore also has what came after the backup.
func holds(t *testing.T, path string, state action.State) {
	t.Helper()
	if _, err := sqlite.Check(t.Context(), path, options(t)); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(path, options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	row, err := s.Action(t.Context(), "acme", "act_2")
	if err != nil || row.State != state {
		t.Fatalf("%s, want %s: %v", row.State, state, err)
	}
	_, err = s.Action(t.Context(), "acme", "after the backup")
	if want := state == action.Executing; (err == nil) != want {
		t.Fatalf("the call after the backup: %v, wanted: %t", err, want)
	}
}

// kept fails unless the store of before is there under another name.
func kept(t *testing.T, path string) {
	t.Helper()
	files, err := filepath.Glob(path + ".before-*Z")
	if err != nil || len(files) != 1 {
		t.Fatalf("kept %v, %v", files, err)
	}
	r, err := sqlite.Check(t.Context(), files[0], options(t))
	if err != nil || r.States[action.Executing] != 2 {
		t.Fatalf("the store of before: %+v, %v", r, err)
	}
}

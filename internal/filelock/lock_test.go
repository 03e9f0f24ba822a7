package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-de4804fb/verbatim/internal/filelock"
)

func TestOneHoldsALockUntilItIsFreed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.Take(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.Take(path); !errors.Is(err, filelock.ErrTaken) {
		t.Fatalf("a second one: %v", err)
	}
	if err := first.Free(); err != nil {
		t.Fatal(err)
	}
	again, err := filelock.Take(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Free(); err != nil {
		t.Fatal(err)
	}
}

func TestALockWhoseFileWasRemovedIsNotHeld(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	l, err := filelock.Take(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Free()
	if !l.Held() {
		t.Error("it is not held before")
	}
	if err := os.Remove(path); err != nil {
		t.Skip("this system does not remove open files")
	}
	if l.Held() {
		t.Error("it is held without its file")
	}
	other, err := filelock.Take(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Free()
	if l.Held() || !other.Held() {
		t.Error("the wrong one is held")
	}
}

func TestALockThatCannotBeMadeIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := filelock.Take(filepath.Join(t.TempDir(), "none", "lock")); err == nil || errors.Is(err, filelock.ErrTaken) {
		t.Fatalf("%v", err)
	}
}

package witness_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/audit/witness"
	"github.com/seed-de4804fb/verbatim/keys"
)

// TestAWitnessGoesOnWhereItWas: a restart forgets nothing, and a store that
// somebody changed signs nothing.
func TestAWitnessGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	dir := t.TempDir()
	one := string(h.grow(3))
	first := newPlace(t, dir, h.key())
	if status, _ := first.post(t, "old 0\n\n"+one); status != 200 {
		t.Fatal(status)
	}
	first.end()
	p := newPlace(t, dir, h.key())
	if status, _ := p.post(t, "old 0\n\n"+one); status != 409 {
		t.Errorf("after a restart it begins anew: %d", status)
	}
	path := filepath.Join(dir, witness.LogID(h.origin))
	if err := os.WriteFile(path, []byte(one), 0o600); err != nil { // the log's own text, which the witness has not signed
		t.Fatal(err)
	}
	if status, _ := p.post(t, "old 3\n\n"+one); status != 500 {
		t.Errorf("it goes on from what it has not written: %d", status)
	}
}

// TestOneWitnessHasADirectory: two that check and write beside each other could
// sign two histories.
func TestOneWitnessHasADirectory(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	dir := t.TempDir()
	one := string(h.grow(3))
	first := newPlace(t, dir, h.key())
	trust, err := audit.NewTrust(h.key())
	if err != nil {
		t.Fatal(err)
	}
	second := witness.Config{Name: name, Key: signer(t, keys.Witnesses, 2), Dir: dir, Logs: trust}
	if _, err := witness.New(second); !errors.Is(err, witness.ErrOwned) {
		t.Fatalf("a second one in the same directory: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "lock")); err == nil { // not everywhere can an open file be removed
		if status, _ := first.post(t, "old 0\n\n"+one); status != 500 {
			t.Errorf("it signs though another could have its directory: %d", status)
		}
	}
	first.end()
	w, err := witness.New(second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Add([]byte("old 0\n\n" + one)); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Add([]byte("old 3\n\n" + one)); err == nil {
		t.Error("it signs after its end")
	}
}

func TestAWitnessThatLacksSomethingDoesNotStart(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	trust, err := audit.NewTrust(h.key())
	if err != nil {
		t.Fatal(err)
	}
	full := witness.Config{Name: name, Key: signer(t, keys.Witnesses, 2), Dir: t.TempDir(), Logs: trust}
	for what, change := range map[string]func(*witness.Config){
		"no name":             func(c *witness.Config) { c.Name = "" },
		"a name with a space": func(c *witness.Config) { c.Name = "a b" },
		"no key":              func(c *witness.Config) { c.Key = nil },
		"a key of a log":      func(c *witness.Config) { c.Key = signer(t, keys.Checkpoints, 1) },
		"no log":              func(c *witness.Config) { c.Logs = audit.Trust{} },
		"no place":            func(c *witness.Config) { c.Dir = filepath.Join(os.DevNull, "x") },
	} {
		c := full
		change(&c)
		if _, err := witness.New(c); err == nil {
			t.Errorf("%s: it starts", what)
		}
	}
}

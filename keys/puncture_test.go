package keys_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/keys"
)

func at(row string) keys.Place { return keys.Place{Tenant: "acme", Row: row, Field: "args"} }

// TestErasedRowsOpenNowhere also opens the ring again, and seals under a key
// that came after.
func TestErasedRowsOpenNowhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "ring")
		if err != nil {
			rt.Fatal(err)
		}
		r := ring(t, filepath.Join(dir, "keys"))
		s, err := r.Sealer()
		if err != nil {
			rt.Fatal(err)
		}
		n := rapid.IntRange(1, 12).Draw(rt, "rows")
		erased := map[int]bool{}
		sealed := make([][]byte, n)
		for i := range n {
			if sealed[i], err = s.Seal(at(fmt.Sprint("act_", i)), []byte("secret")); err != nil {
				rt.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 4).Draw(rt, "times") {
			i := rapid.IntRange(0, n-1).Draw(rt, "row")
			erased[i] = true
			if err := r.Erase(at(fmt.Sprint("act_", i))); err != nil {
				rt.Fatal(err)
			}
		}
		again, err := ring(t, filepath.Join(dir, "keys")).Sealer()
		if err != nil {
			rt.Fatal(err)
		}
		for i := range n {
			place := at(fmt.Sprint("act_", i))
			for name, s := range map[string]*keys.Sealer{"the ring that erased": s, "a ring opened since": again} {
				plain, err := s.Open(place, sealed[i])
				if erased[i] != errors.Is(err, keys.ErrErased) || !erased[i] && string(plain) != "secret" {
					rt.Fatalf("%s, row %d, erased %v: %q, %v", name, i, erased[i], plain, err)
				}
				if _, err := s.Seal(place, []byte("x")); erased[i] != errors.Is(err, keys.ErrErased) {
					rt.Fatalf("%s seals row %d, erased %v: %v", name, i, erased[i], err)
				}
			}
		}
		if s.KeyID() != again.KeyID() {
			rt.Fatal("the key has another id now")
		}
	})
}

// TestTheFileHoldsNothingThatLeadsToAnErasedRow: neither the key itself nor
// any seed on the way is left.
func TestTheFileHoldsNothingThatLeadsToAnErasedRow(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "seal.key")
	var text string
	for _, n := range []byte{2, 1} {
		text += "verbatim-key-v1 " + hex.EncodeToString(seed(n)) + "\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	old := sealer(t, seed(1))
	sealed, err := old.Seal(at("act_1"), []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := old.Seal(at("act_2"), []byte("kept"))
	if err != nil {
		t.Fatal(err)
	}
	held, err := os.Open(path) // the file of before, as an undelete would find it
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	r := ring(t, dir)
	if err := r.Erase(at("act_1"), at("act_1")); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before := make([]byte, len(text))
	if _, err := held.ReadAt(before, 0); err != nil {
		t.Fatal(err)
	}
	for _, n := range []byte{1, 2} {
		for name, b := range map[string][]byte{"the file": after, "what the file was": before} {
			if bytes.Contains(b, []byte(hex.EncodeToString(seed(n)))) {
				t.Errorf("%s still holds key %d", name, n)
			}
			for line := range strings.Lines(string(b)) {
				seeds, err := base64.StdEncoding.DecodeString(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]))
				if err == nil && bytes.Contains(seeds, seed(n)) {
					t.Errorf("%s holds key %d as a seed", name, n)
				}
			}
		}
	}
	s, err := ring(t, dir).Sealer()
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := s.Open(at("act_1"), sealed); !errors.Is(err, keys.ErrErased) {
		t.Errorf("%q, %v", plain, err)
	}
	if plain, err := s.Open(at("act_2"), other); err != nil || string(plain) != "kept" {
		t.Errorf("%q, %v", plain, err)
	}
	if s.KeyID() != sealer(t, seed(2)).KeyID() {
		t.Error("another key seals now")
	}
}

func TestDamagedSealFilesAreRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	r := ring(t, dir)
	if err := r.Erase(at("act_1")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "seal.key")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line := string(good[:bytes.IndexByte(good, '\n')])
	for name, text := range map[string]string{
		"empty":           "",
		"cut":             string(good[:len(good)-1]),
		"a line cut":      line[:len(line)-4] + "\n",
		"another version": strings.Replace(string(good), "seal-v2", "seal-v1", 1),
		"a newer version": strings.Replace(string(good), "seal-v2", "seal-v3", 1),
		"not base64":      strings.Replace(line, line[20:21], "!", 1) + "\n",
		"an empty line":   string(good) + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ring(t, dir).Sealer(); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if err := ring(t, dir).Erase(at("act_2")); err == nil {
			t.Errorf("%s: erased", name)
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	s := sealer(b, seed(1))
	for i := 0; b.Loop(); i++ {
		if _, err := s.Seal(at("act_1"), []byte("secret")); err != nil {
			b.Fatal(err)
		}
	}
}

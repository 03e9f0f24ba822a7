package keys_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/seed-de4804fb/verbatim/keys"
)

func ring(t *testing.T, dir string) *keys.Ring {
	t.Helper()
	r, err := keys.OpenRing(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestKeysAreMadeOnceAndPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state", "keys")
	first, err := ring(t, dir).Signer(keys.Votes)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ring(t, dir).Signer(keys.Votes)
	if err != nil || again.KeyID() != first.KeyID() {
		t.Fatalf("another key after reopening: %v", err)
	}
	if runtime.GOOS == "windows" {
		return // rights are in access lists there
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "vote.key"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
		}
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 1 {
		t.Errorf("files %v, %v", names, err)
	}
}

func TestKeysOthersCanReadAreRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return
	}
	dir := filepath.Join(t.TempDir(), "keys")
	if _, err := ring(t, dir).Sealer(); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620} {
		if err := os.Chmod(filepath.Join(dir, "seal.key"), mode); err != nil {
			t.Fatal(err)
		}
		if _, err := ring(t, dir).Sealer(); !errors.Is(err, keys.ErrExposed) {
			t.Errorf("mode %v: error %v, want ErrExposed", mode, err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.OpenRing(dir); !errors.Is(err, keys.ErrExposed) {
		t.Errorf("error %v, want ErrExposed", err)
	}
}

func TestPurposesHaveKeysOfTheirOwn(t *testing.T) {
	t.Parallel()
	r := ring(t, filepath.Join(t.TempDir(), "keys"))
	seen := map[string]keys.Purpose{}
	for _, p := range []keys.Purpose{keys.Votes, keys.Receipts, keys.Checkpoints, keys.Witnesses, keys.Warrants} {
		s, err := r.Signer(p)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[s.KeyID()]; ok {
			t.Errorf("%s and %s share a key", p, other)
		}
		seen[s.KeyID()] = p
		e, err := r.Sign(p, payloadType, []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []keys.Purpose{keys.Votes, keys.Receipts, keys.Checkpoints, keys.Witnesses, keys.Warrants} {
			other, err := r.Signer(q)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := other.Open(e, payloadType); (err == nil) != (p == q) {
				t.Errorf("signed as %s, opened as %s: %v", p, q, err)
			}
		}
		if _, err := s.SignBytes(0, []byte("x")); (err == nil) != (p == keys.Checkpoints || p == keys.Witnesses) {
			t.Errorf("%s signs plain bytes: %v", p, err)
		}
		if sig, err := s.SignBytes(1, []byte("x")); err == nil {
			t.Errorf("%s signs with a key that it does not have: %x", p, sig)
		}
	}
	for _, p := range []keys.Purpose{keys.Sealing, "", "../vote"} {
		if _, err := r.Signer(p); err == nil {
			t.Errorf("%q signs", p)
		}
	}
}

func TestRotatedKeysStillVerify(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	e, err := ring(t, dir).Sign(keys.Votes, payloadType, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "vote.key")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line := "verbatim-key-v1 " + hex.EncodeToString(seed(9)) + "\n"
	if err := os.WriteFile(path, append([]byte(line), old...), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := ring(t, dir).Signer(keys.Votes)
	if err != nil {
		t.Fatal(err)
	}
	if want := signer(t, keys.Votes, seed(9)); s.KeyID() != want.KeyID() {
		t.Error("the first line does not sign")
	}
	if _, err := s.Open(e, payloadType); err != nil {
		t.Errorf("what the old key signed: %v", err)
	}
}

func TestDamagedKeyFilesAreRefusedWithoutShowingThem(t *testing.T) {
	t.Parallel()
	good := "verbatim-key-v1 " + hex.EncodeToString(seed(9))
	for name, text := range map[string]string{
		"empty":            "",
		"cut":              good,
		"cut in the key":   good[:40] + "\n",
		"another version":  strings.Replace(good, "v1", "v2", 1) + "\n",
		"not hex":          good[:len(good)-1] + "g\n",
		"an empty line":    good + "\n\n",
		"Windows line end": good + "\r\n",
		"huge":             strings.Repeat(good+"\n", 2000),
	} {
		dir := filepath.Join(t.TempDir(), "keys")
		r := ring(t, dir)
		if err := os.WriteFile(filepath.Join(dir, "vote.key"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := r.Signer(keys.Votes)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if strings.Contains(err.Error(), hex.EncodeToString(seed(9))[:8]) {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, "vote.key")); !bytes.Equal(after, []byte(text)) {
			t.Errorf("%s: the file was replaced", name)
		}
	}
}

func TestManyFirstUsersGetOneKey(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	const many = 16
	ids, errs := make([]string, many), make([]error, many)
	var wg sync.WaitGroup
	for i := range many {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r, err := keys.OpenRing(dir) // a ring of its own, as in another process
			if err != nil {
				errs[i] = err
				return
			}
			s, err := r.Sealer()
			if err != nil {
				errs[i] = err
				return
			}
			ids[i] = s.KeyID()
		}()
	}
	wg.Wait()
	for i := range many {
		if errs[i] != nil || ids[i] != ids[0] {
			t.Errorf("user %d got key %s, %v; the first got %s", i, ids[i], errs[i], ids[0])
		}
	}
}

package verifier_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// tamperLeaves asks for a longer log than the short form's.
const tamperLeaves = "VERBATIM_TAMPER_LEAVES"

// altered is a log whose records somebody has put others in the place of.
type altered struct {
	audit.Log
	leaves [][]byte
}

func (a altered) Entries(_ context.Context, s audit.Selection) (out []audit.Entry, err error) {
	for i := s.From; i < int64(len(a.leaves)) && len(out) < s.Most; i++ {
		out = append(out, audit.Entry{Index: i, Leaf: a.leaves[i]})
	}
	return out, nil
}

// alterations calls f with each log that differs from leaves in one record:
// changed, deleted, inserted, swapped with the next, or the last one left.
func alterations(leaves [][]byte, f func(what string, i int, rest [][]byte)) {
	for i, leaf := range leaves {
		changed := slices.Clone(leaf)
		changed[i%len(changed)] ^= 1
		f("change", i, slices.Concat([][]byte{changed}, leaves[i+1:]))
		f("delete", i, leaves[i+1:])
		f("insert", i, slices.Concat([][]byte{leaf}, leaves[i:]))
		if i+1 < len(leaves) {
			f("swap", i, slices.Concat([][]byte{leaves[i+1], leaf}, leaves[i+2:]))
		}
		f("cut off", i, nil)
	}
}

// TestABundleHoldsItsOwnEntriesOnly: one too many would be read in the place of
// the next bundle's first, which could then be anything.
func TestABundleHoldsItsOwnEntriesOnly(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.reject(258)
	s.sign()
	dir := s.export("exported")
	full := filepath.Join(dir, "tile", "entries", "000")
	next, err := filepath.Glob(filepath.Join(dir, "tile", "entries", "001.p", "*"))
	if err != nil || len(next) != 1 {
		t.Fatal(next, err)
	}
	first, second := readFile(t, full), readFile(t, next[0])
	n := 2 + int(binary.BigEndian.Uint16(second))
	writeFile(t, full, slices.Concat(first, second[:n]))
	second[n-3] ^= 1
	writeFile(t, next[0], second)

	l, err := audit.OpenExported(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := audit.Verify(t.Context(), l, s.trust()); err == nil {
		t.Errorf("ours does not see it: %+v", r)
	}
	if said, code := s.verify(dir); code == 0 {
		t.Errorf("theirs does not see it: %v", said)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// reject makes n records.
func (s *scene) reject(n int) {
	s.t.Helper()
	for range n {
		if err := s.Store.RejectInput(s.t.Context(), action.Rejection{Tenant: "acme", Principal: "maria", Agent: "a", Tool: "t",
			Stage: "json", Code: "invalid_arguments", Size: 1, Digest: canon.Sum(nil)}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestNothingDoneToOneRecordGoesUnseen does to each record of a log what can
// be done to one, and asks both checkers.
func TestNothingDoneToOneRecordGoesUnseen(t *testing.T) {
	t.Parallel()
	n := 120
	if text := os.Getenv(tamperLeaves); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	s := newScene(t)
	s.reject(n)
	s.sign()
	dir := s.export("exported")

	var theirs struct {
		Records int      `json:"records"`
		Tried   int      `json:"tried"`
		Missed  []string `json:"missed"`
	}
	if code := s.run(&theirs, nil, filepath.Join("testdata", "check.mjs"), "log", dir, filepath.Join(s.dir, "keys.txt")); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	tried := s.alterAll(dir)
	if theirs.Tried != tried || theirs.Records < n || len(theirs.Missed) > 0 {
		t.Errorf("ours tried %d, theirs %+v", tried, theirs)
	}
	t.Logf("%d records, %d alterations, each seen by both", theirs.Records, tried)
}

// alterAll asks for the root of each altered log, and of some the whole
// verifier. It says how many it has tried.
func (s *scene) alterAll(dir string) int {
	s.t.Helper()
	l, err := audit.OpenExported(os.DirFS(dir))
	if err != nil {
		s.t.Fatal(err)
	}
	head, err := l.Head(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	leaves := s.leaves(l, head.Size)
	hashes := map[*byte]canon.Digest{} // of the true leaves, by where they are
	hash := func(leaf []byte) canon.Digest {
		h, known := hashes[&leaf[0]]
		if !known {
			h = audit.LeafHash(leaf)
		}
		return h
	}
	for _, leaf := range leaves {
		hashes[&leaf[0]] = audit.LeafHash(leaf)
	}
	tried := 0
	alterations(leaves, func(what string, i int, rest [][]byte) {
		tried++
		var tree audit.Tree
		for _, leaf := range slices.Concat(leaves[:i], rest) {
			tree.Add(hash(leaf))
		}
		if tree.Head() == head {
			s.t.Errorf("%s of record %d is not seen", what, i+1)
		}
		if tried%(1+len(leaves)/40) != 0 {
			return
		}
		r, err := audit.Verify(s.t.Context(), altered{l, slices.Concat(leaves[:i], rest)}, s.trust())
		if !errors.Is(err, audit.ErrFaults) {
			s.t.Errorf("%s of record %d: %+v, %v", what, i+1, r, err)
		}
	})
	return tried
}

func (s *scene) leaves(l audit.Log, size int64) (out [][]byte) {
	s.t.Helper()
	for int64(len(out)) < size {
		entries, err := l.Entries(s.t.Context(), audit.Selection{From: int64(len(out)), Most: audit.MaxEntries})
		if err != nil || len(entries) == 0 {
			s.t.Fatal(fmt.Errorf("%d of %d records: %w", len(out), size, err))
		}
		for _, e := range entries {
			out = append(out, e.Leaf)
		}
	}
	return out
}

package canon_test

import (
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
)

var update = flag.Bool("update", false, "write the golden files")

// suite returns the folder of a published suite.
func suite(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "suites", name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("published suite %s is not beside the repository", name)
	}
	return dir
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files match %s: %v", pattern, err)
	}
	sort.Strings(paths)
	return paths
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPublishedCanonicalizationVectorsAreByteEqual(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(suite(t, "jcs"), "testdata")
	inputs := files(t, filepath.Join(dir, "input", "*.json"))
	if len(inputs) != 6 {
		t.Fatalf("found %d vectors, want 6", len(inputs))
	}
	for _, in := range inputs {
		t.Run(filepath.Base(in), func(t *testing.T) {
			t.Parallel()
			v, err := canon.Decode(read(t, in), canon.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := read(t, filepath.Join(dir, "output", filepath.Base(in)))
			if diff := cmp.Diff(string(want), string(v.Canonical())); diff != "" {
				t.Error(diff)
			}
			hexName := strings.TrimSuffix(filepath.Base(in), ".json") + ".txt"
			wantHex := strings.Join(strings.Fields(string(read(t, filepath.Join(dir, "outhex", hexName)))), "")
			if diff := cmp.Diff(wantHex, hex.EncodeToString(v.Canonical())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

package canon_test

import (
	"encoding/hex"
	"errors"
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

// parsing returns the files of JSONTestSuite whose names begin with prefix.
func parsing(t *testing.T, prefix string, count int) []string {
	t.Helper()
	paths := files(t, filepath.Join(suite(t, "jsontestsuite"), "test_parsing", prefix+"*.json"))
	if len(paths) != count {
		t.Fatalf("found %d files, want %d", len(paths), count)
	}
	return paths
}

func TestEveryInvalidPublishedFileIsRefused(t *testing.T) {
	t.Parallel()
	for _, path := range parsing(t, "n_", 188) {
		if v, err := canon.Decode(read(t, path), canon.Options{}); err == nil {
			t.Errorf("%s: accepted as %s", filepath.Base(path), v.Kind())
		}
	}
}

// TestEveryValidPublishedFileIsAccepted names the files that are valid JSON
// and still refused, because readers disagree about them.
func TestEveryValidPublishedFileIsAccepted(t *testing.T) {
	t.Parallel()
	refused := map[string]string{
		"y_object_duplicated_key.json":           canon.RuleDuplicateName,
		"y_object_duplicated_key_and_value.json": canon.RuleDuplicateName,
		"y_number_minus_zero.json":               canon.RuleNegativeZero,
		"y_number_negative_zero.json":            canon.RuleNegativeZero,
	}
	for _, path := range parsing(t, "y_", 95) {
		name := filepath.Base(path)
		raw := read(t, path)
		v, err := canon.Decode(raw, canon.Options{})
		if diff := cmp.Diff(refused[name], rule(err)); diff != "" {
			t.Errorf("%s: %s", name, diff)
			continue
		}
		if err != nil {
			continue
		}
		again, err := canon.Decode(v.Canonical(), canon.Options{})
		if err != nil || !canon.Equal(v, again) {
			t.Errorf("%s: the canonical form reads back differently: %v", name, err)
		}
	}
}

// TestVerdictsOnPublishedFiles pins what the decoder says about the files on
// which readers may differ, and the canonical form of those it accepts.
func TestVerdictsOnPublishedFiles(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	paths := parsing(t, "i_", 35)
	paths = append(paths, files(t, filepath.Join(suite(t, "jsontestsuite"), "test_transform", "*.json"))...)
	for _, path := range paths {
		v, err := canon.Decode(read(t, path), canon.Options{})
		verdict := "accepted " + clip(string(v.Canonical()))
		if err != nil {
			verdict = "refused " + strings.ReplaceAll(err.Error(), "\n", " ")
		}
		got.WriteString(filepath.Base(path) + ": " + verdict + "\n")
	}
	golden(t, filepath.Join("testdata", "verdicts.txt"), got.String())
}

func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}

// golden compares text with a file, or writes the file under -update.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, path)), got); diff != "" {
		t.Error(diff)
	}
}

// rule returns the rule of a refusal; "" for none.
func rule(err error) string {
	var vs canon.Violations
	if !errors.As(err, &vs) || len(vs) == 0 {
		return ""
	}
	return vs[0].Rule
}

package decode_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/decode"
)

var update = flag.Bool("update", false, "write the golden file")

// publishedFiles returns the files of JSONTestSuite.
func publishedFiles(t *testing.T) []string {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "suites", "jsontestsuite")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("published suite jsontestsuite is not beside the repository")
	}
	var paths []string
	for _, folder := range []string{"test_parsing", "test_transform"} {
		found, err := filepath.Glob(filepath.Join(dir, folder, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	if len(paths) != 340 {
		t.Fatalf("found %d files, want 340", len(paths))
	}
	sort.Strings(paths)
	return paths
}

// TestVerdictsOnPublishedFiles pins what the arguments decoder says about
// every file as it is, and as the value of one member.
func TestVerdictsOnPublishedFiles(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, path := range publishedFiles(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		member := append(append([]byte(`{"v":`), raw...), '}')
		fmt.Fprintf(&got, "%s: alone %s; as a member %s\n", filepath.Base(path), verdict(t, raw), verdict(t, member))
	}
	golden := filepath.Join("testdata", "verdicts.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

func verdict(t *testing.T, raw []byte) string {
	t.Helper()
	if _, err := decode.Arguments(raw, decode.Options{}); err == nil {
		return "accepted"
	}
	v := refusals(t, string(raw), decode.Options{})[0]
	return fmt.Sprintf("%s at %d", v.Rule, v.Offset)
}

// TestNoInvalidPublishedFileIsAccepted: what is not JSON stays refused inside
// an object too.
func TestNoInvalidPublishedFileIsAccepted(t *testing.T) {
	t.Parallel()
	for _, path := range publishedFiles(t) {
		name := filepath.Base(path)
		if !strings.HasPrefix(name, "n_") {
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(raw), `{"v":` + string(raw) + "}", string(raw) + "{}", "{}" + string(raw)} {
			if _, err := decode.Arguments([]byte(text), decode.Options{}); err == nil && !blank(raw) {
				t.Errorf("%s is accepted in %q", name, text)
			}
		}
	}
}

// blank reports a file that is invalid only because nothing is in it.
func blank(raw []byte) bool { return len(bytes.TrimSpace(raw)) == 0 }

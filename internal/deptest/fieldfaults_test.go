package deptest_test

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
)

// faultGroups are the groups of field faults about what a call means: reading
// it, its canonical form, its schema and its policy.
var faultGroups = []string{"json-numbers", "json-shape", "json-duplicate-keys", "json-unicode", "json-limits",
	"canonicalization", "coercion", "schema", "policy", "libraries"}

var (
	faultID  = regexp.MustCompile(`[A-Z][0-9]{2}`)
	testName = regexp.MustCompile(`^Test(?:(?:And)?[A-Z][0-9]{2})+`)
	rowName  = regexp.MustCompile(`^(?:[A-Z][0-9]{2}(?:, | and | |$))+`)
)

// TestEveryFieldFaultHasATest finds the id of each fault at the beginning of
// the name of a test, or of a row of one.
func TestEveryFieldFaultHasATest(t *testing.T) {
	t.Parallel()
	faults := fieldFaults(t)
	tested := testedFaults(t, filepath.Join("..", ".."))
	for group, ids := range faults {
		for _, id := range ids {
			if len(tested[id]) == 0 {
				t.Errorf("no test is named after %s (%s)", id, group)
				continue
			}
			t.Logf("%s %s: %s", group, id, strings.Join(tested[id], ", "))
		}
	}
	if len(faults) != len(faultGroups) {
		t.Errorf("found %d groups, want %d", len(faults), len(faultGroups))
	}
}

// fieldFaults returns the ids by group.
func fieldFaults(t *testing.T) map[string][]string {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "shared", "cases", "cases.jsonl"))
	if err != nil {
		t.Skip("the field faults are not beside the repository")
	}
	defer file.Close()
	found := map[string][]string{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		v, err := canon.Decode(lines.Bytes(), canon.Options{})
		if err != nil {
			t.Fatal(err)
		}
		id, _ := v.Get("id")
		group, _ := v.Get("group")
		if slices.Contains(faultGroups, group.Text()) {
			found[group.Text()] = append(found[group.Text()], id.Text())
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// testedFaults returns the files that name each id.
func testedFaults(t *testing.T, root string) map[string][]string {
	t.Helper()
	tested := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules" || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		here := strings.TrimPrefix(filepath.ToSlash(path), "../../")
		ast.Inspect(file, func(n ast.Node) bool {
			for _, id := range faultID.FindAllString(nameIn(n), -1) {
				if !slices.Contains(tested[id], here) {
					tested[id] = append(tested[id], here)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tested
}

// nameIn returns the ids that begin the name of a test or of a row.
func nameIn(n ast.Node) string {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return testName.FindString(n.Name.Name)
	case *ast.BasicLit:
		if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
			return rowName.FindString(text)
		}
	}
	return ""
}

package schema_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

const suiteRoot = "../../shared/suites/json-schema-test-suite"

type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// suiteDialects are the drafts of the official suite with the number of
// required tests that it held when this engine was proven against it.
var suiteDialects = []struct {
	folder, uri string
	tests       int
}{
	{"draft2020-12", "https://json-schema.org/draft/2020-12/schema", 1299},
	{"draft7", "http://json-schema.org/draft-07/schema#", 927},
}

func TestOfficialSuiteIsObeyed(t *testing.T) {
	t.Parallel()
	for _, d := range suiteDialects {
		t.Run(d.folder, func(t *testing.T) {
			t.Parallel()
			load := suiteLoader(t, d.uri)
			count := 0
			for _, g := range suiteGroups(t, d.folder, "*.json") {
				src := withDialect(g.Schema, d.uri)
				s, err := schema.CompileWith(src, schema.Options{}, load)
				if err != nil {
					t.Errorf("%s: compile: %v", g.Description, err)
					continue
				}
				for _, c := range g.Tests {
					count++
					if got := valid(t, s, c.Data); got != c.Valid {
						t.Errorf("%s / %s: valid = %v, want %v", g.Description, c.Description, got, c.Valid)
					}
				}
			}
			if count < d.tests {
				t.Errorf("ran %d tests, want at least %d", count, d.tests)
			}
		})
	}
}

func valid(t *testing.T, s *schema.Schema, data []byte) bool {
	t.Helper()
	v, err := canon.Decode(data, canon.Options{})
	if err != nil {
		t.Fatalf("decode instance: %v", err)
	}
	err = s.Validate(v)
	var vs canon.Violations
	if err != nil && !errors.As(err, &vs) {
		t.Fatalf("error is %T, want canon.Violations", err)
	}
	return err == nil
}

func suiteGroups(t *testing.T, folder, pattern string) []suiteGroup {
	t.Helper()
	requireSuite(t)
	files, err := filepath.Glob(filepath.Join(suiteRoot, "tests", folder, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of %s: %v", folder, err)
	}
	var all []suiteGroup
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var groups []suiteGroup
		if err := json.Unmarshal(raw, &groups); err != nil {
			t.Fatal(err)
		}
		for i := range groups {
			groups[i].Description = filepath.Base(f) + ": " + groups[i].Description
		}
		all = append(all, groups...)
	}
	return all
}

func requireSuite(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(suiteRoot); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the official suite is not at " + suiteRoot)
	}
}

// withDialect names the draft where the schema does not.
func withDialect(src []byte, uri string) []byte {
	text := strings.TrimSpace(string(src))
	if !strings.HasPrefix(text, "{") || strings.Contains(text, `"$schema"`) {
		return src
	}
	sep := ","
	if strings.TrimSpace(text[1:]) == "}" {
		sep = ""
	}
	return []byte(`{"$schema":"` + uri + `"` + sep + text[1:])
}

// suiteLoader serves the suite's remote documents and the meta-schemas.
func suiteLoader(t *testing.T, dialect string) func(string) ([]byte, bool) {
	t.Helper()
	return func(uri string) ([]byte, bool) {
		if rest, ok := strings.CutPrefix(uri, "http://localhost:1234/"); ok {
			raw, err := os.ReadFile(filepath.Join(suiteRoot, "remotes", filepath.FromSlash(rest)))
			return withDialect(raw, dialect), err == nil
		}
		name := strings.TrimPrefix(strings.TrimPrefix(uri, "https://json-schema.org/"), "http://json-schema.org/")
		raw, err := os.ReadFile(filepath.Join("testdata", "metaschema", strings.ReplaceAll(name, "/", "_")+".json"))
		return raw, err == nil
	}
}

// TestAssertedFormatsFollowTheSuite runs the optional format tests of the
// official suite for the formats that Apply asserts.
func TestAssertedFormatsFollowTheSuite(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"date-time", "date", "time", "email", "uri", "uuid", "ipv4", "ipv6"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			for _, g := range suiteGroups(t, filepath.Join("draft2020-12", "optional", "format"), format+".json") {
				s, err := schema.Compile(g.Schema, schema.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range g.Tests {
					v, err := canon.Decode(c.Data, canon.Options{})
					if err != nil {
						t.Fatal(err)
					}
					if _, _, err := s.Apply(v, nil); (err == nil) != c.Valid {
						t.Errorf("%s: %s: error %v, want valid = %v", c.Description, c.Data, err, c.Valid)
					}
				}
			}
		})
	}
}

// TestCompileRefusesFewOfTheSuite: the compiler of the product, which has no
// loader and must know every default, agrees wherever it compiles.
func TestCompileRefusesFewOfTheSuite(t *testing.T) {
	t.Parallel()
	for _, d := range suiteDialects {
		t.Run(d.folder, func(t *testing.T) {
			t.Parallel()
			refused, groups := 0, suiteGroups(t, d.folder, "*.json")
			for _, g := range groups {
				s, err := schema.Compile(withDialect(g.Schema, d.uri), schema.Options{})
				if err != nil {
					requireHonestRefusal(t, g.Description, err)
					refused++
					continue
				}
				for _, c := range g.Tests {
					if got := valid(t, s, c.Data); got != c.Valid {
						t.Errorf("%s / %s: valid = %v, want %v", g.Description, c.Description, got, c.Valid)
					}
				}
			}
			if refused > len(groups)/8 {
				t.Errorf("%d of %d schemas are refused", refused, len(groups))
			}
		})
	}
}

// requireHonestRefusal allows what the product must refuse: references out of
// the document, foreign dialects, dynamic scopes, bad defaults.
func requireHonestRefusal(t *testing.T, name string, err error) {
	t.Helper()
	var ce *schema.CompileError
	if !errors.As(err, &ce) {
		t.Errorf("%s: %v", name, err)
		return
	}
	switch ce.Keyword {
	case "$ref", "$dynamicRef", "$schema", "default":
	default:
		t.Errorf("%s: %v", name, err)
	}
}

package schema_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

const (
	annotation = "a format that is an annotation: nothing is refused for it"
	outside    = "a $ref into a document of another draft, which is outside of this one"
	dialect    = "a meta-schema of its own that makes formats assertions, which is another dialect"
	content    = "contentEncoding and contentMediaType are annotations, as 2020-12 has them"
)

// optionalMisses are the groups of the official suite that nobody has to pass
// and in which we differ, with how many tests, and why.
var optionalMisses = map[string]struct {
	tests  int
	reason string
}{
	"draft2020-12/optional/cross-draft.json":                  {1, outside},
	"draft2020-12/optional/format-assertion.json":             {3, dialect},
	"draft2020-12/optional/format/duration.json":              {25, annotation},
	"draft2020-12/optional/format/ecmascript-regex.json":      {6, annotation},
	"draft2020-12/optional/format/hostname.json":              {35, annotation},
	"draft2020-12/optional/format/idn-email.json":             {2, annotation},
	"draft2020-12/optional/format/idn-hostname.json":          {54, annotation},
	"draft2020-12/optional/format/iri-reference.json":         {2, annotation},
	"draft2020-12/optional/format/iri.json":                   {6, annotation},
	"draft2020-12/optional/format/json-pointer.json":          {12, annotation},
	"draft2020-12/optional/format/regex.json":                 {1, annotation},
	"draft2020-12/optional/format/relative-json-pointer.json": {12, annotation},
	"draft2020-12/optional/format/uri-reference.json":         {11, annotation},
	"draft2020-12/optional/format/uri-template.json":          {13, annotation},
	"draft7/optional/content.json":                            {4, content},
	"draft7/optional/cross-draft.json":                        {2, outside},
	"draft7/optional/format/ecmascript-regex.json":            {6, annotation},
	"draft7/optional/format/hostname.json":                    {35, annotation},
	"draft7/optional/format/idn-email.json":                   {2, annotation},
	"draft7/optional/format/idn-hostname.json":                {54, annotation},
	"draft7/optional/format/iri-reference.json":               {2, annotation},
	"draft7/optional/format/iri.json":                         {6, annotation},
	"draft7/optional/format/json-pointer.json":                {12, annotation},
	"draft7/optional/format/regex.json":                       {1, annotation},
	"draft7/optional/format/relative-json-pointer.json":       {12, annotation},
	"draft7/optional/format/uri-reference.json":               {11, annotation},
	"draft7/optional/format/uri-template.json":                {13, annotation},
}

// TestOptionalGroupsAreObeyedButForThoseListed runs every optional group: the
// formats as Apply asserts them, the others in pure validation.
func TestOptionalGroupsAreObeyedButForThoseListed(t *testing.T) {
	t.Parallel()
	got, want := map[string]int{}, map[string]int{}
	for name, miss := range optionalMisses {
		want[name] = miss.tests
	}
	groups := 0
	for _, d := range suiteDialects {
		for _, folder := range []string{"optional", "optional/format"} {
			requireSuite(t)
			files, err := filepath.Glob(filepath.Join(suiteRoot, "tests", d.folder, folder, "*.json"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				name := d.folder + "/" + folder + "/" + filepath.Base(file)
				groups++
				if n := missed(t, d.uri, name); n > 0 {
					got[name] = n
				}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || groups < 60 {
		t.Errorf("%d groups: %s", groups, diff)
	}
}

// missed counts the tests of one file that we judge otherwise, do not compile
// or do not decode. A format may be missed only by accepting.
func missed(t *testing.T, uri, name string) (n int) {
	t.Helper()
	load := suiteLoader(t, uri)
	for _, g := range suiteGroups(t, filepath.Dir(name), filepath.Base(name)) {
		s, err := schema.CompileWith(withDialect(g.Schema, uri), schema.Options{}, load)
		if err != nil {
			n += len(g.Tests)
			continue
		}
		for _, c := range g.Tests {
			v, err := canon.Decode(c.Data, canon.Options{})
			if err != nil {
				n++
				continue
			}
			accepted := s.Validate(v) == nil
			if strings.Contains(name, "/format/") {
				_, _, err := s.Apply(v, nil)
				accepted = err == nil
			}
			if accepted != c.Valid {
				n++
			}
			if optionalMisses[name].reason == annotation && c.Valid && !accepted {
				t.Errorf("%s: %s is refused", name, c.Data)
			}
		}
	}
	return n
}

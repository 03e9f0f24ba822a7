package schema_test

import (
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
)

// normalizeCase is one line of testdata/normalize.txt.
type normalizeCase struct {
	name   string
	schema string
	opt    schema.Options
	fill   []schema.Fill
	in     string
	out    string // "" if refused
	want   []string
}

func TestNormalizationTable(t *testing.T) {
	t.Parallel()
	cases := readNormalizeCases(t)
	if len(cases) < 120 {
		t.Fatalf("%d cases, want at least 120", len(cases))
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := schema.Compile([]byte(c.schema), c.opt)
			if err != nil {
				t.Fatal(err)
			}
			out, changes, err := s.Apply(decode(t, c.in), c.fill)
			if c.out == "" {
				if diff := cmp.Diff(sorted(c.want), sorted(violationTexts(t, err))); diff != "" {
					t.Error(diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := string(decode(t, c.out).Canonical()); want != string(out.Canonical()) {
				t.Errorf("got %s, want %s", out.Canonical(), want)
			}
			if diff := cmp.Diff(c.want, changeTexts(changes)); diff != "" {
				t.Error(diff)
			}
			checkStable(t, s, out, c.fill)
		})
	}
}

// checkStable applies the schema to its own result.
func checkStable(t *testing.T, s *schema.Schema, out canon.Value, fill []schema.Fill) {
	t.Helper()
	again, changes, err := s.Apply(out, fill)
	if err != nil || len(changes) > 0 || !canon.Equal(again, out) {
		t.Errorf("applied twice: %v, changes %v, %s", err, changes, again.Canonical())
	}
}

func decode(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Decode([]byte(text), canon.Options{Exact: true})
	if err != nil {
		t.Fatalf("decode %.200s: %v", text, err)
	}
	return v
}

func violationTexts(t testing.TB, err error) []string {
	t.Helper()
	var vs canon.Violations
	if !errors.As(err, &vs) {
		t.Fatalf("error = %v, want violations", err)
	}
	out := []string{}
	for _, v := range vs {
		pointer := v.Pointer
		if pointer == "" {
			pointer = "(root)"
		}
		if v.Expected == "" {
			t.Errorf("%s %s says nothing of what is expected", pointer, v.Rule)
		}
		out = append(out, pointer+" "+v.Rule)
	}
	return out
}

func changeTexts(changes []canon.Change) []string {
	out := []string{}
	for _, c := range changes {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Pointer, c.Kind, c.By)))
	}
	return out
}

func sorted(list []string) []string {
	out := append([]string{}, list...)
	sort.Strings(out)
	return out
}

func readNormalizeCases(t *testing.T) []normalizeCase {
	t.Helper()
	raw, err := os.ReadFile("testdata/normalize.txt")
	if err != nil {
		t.Fatal(err)
	}
	var cases []normalizeCase
	var section normalizeCase
	for i, line := range strings.Split(string(raw), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "##":
			section = normalizeCase{name: rest}
		case "schema":
			section.schema = rest
		case "opt":
			section.opt = readOptions(t, rest)
		case "fill":
			pointer, value, _ := strings.Cut(rest, " ")
			section.fill = append(section.fill, schema.Fill{Pointer: pointer, Value: decode(t, value)})
		case "ok", "bad":
			c := section
			var result string
			c.in, result, _ = strings.Cut(rest, " => ")
			c.name = fmt.Sprintf("%s/line %d", section.name, i+1)
			if word == "ok" {
				c.out, result, _ = strings.Cut(result, " | ")
			}
			c.want = []string{}
			if result != "" {
				c.want = strings.Split(result, "; ")
			}
			cases = append(cases, c)
		}
	}
	return cases
}

func readOptions(t *testing.T, text string) schema.Options {
	t.Helper()
	var opt schema.Options
	for _, word := range strings.Fields(text) {
		name, pointer, isTransform := strings.Cut(word, "@")
		switch {
		case isTransform:
			opt.Transforms = append(opt.Transforms, schema.Transform{Pointer: pointer, Name: name})
		case word == "coerce":
			opt.Coerce = true
		case word == "nulls":
			opt.NullMeansAbsent = true
		case word == "reject" || word == "strip" || word == "keep":
			opt.Unknown = schema.UnknownMode(word)
		default:
			t.Fatalf("unknown option %q", word)
		}
	}
	return opt
}

package client_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/api/client"
)

func TestEventsAreReadAsTheStandardSays(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   string
		want [][3]string
	}{
		"one":                        {"event: state\nid: 7\ndata: {}\n\n", [][3]string{{"state", "7", "{}"}}},
		"carriage returns":           {"event: a\r\ndata: 1\r\n\r\nevent: b\rdata: 2\r\r", [][3]string{{"a", "", "1"}, {"b", "", "2"}}},
		"several lines of data":      {"data: a\ndata\ndata:b\n\n", [][3]string{{"", "", "a\n\nb"}}},
		"comments and a retry":       {": hello\n\nretry: 5\n\ndata: x\n\n", [][3]string{{"", "", "x"}}},
		"an id that stays":           {"id: 3\n\ndata: x\n\ndata: y\n\n", [][3]string{{"", "3", "x"}, {"", "3", "y"}}},
		"an id that is none":         {"id: 3\ndata: x\n\nid: y\ndata: z\n\n", [][3]string{{"", "3", "x"}, {"", "3", "z"}}},
		"one that was cut":           {"data: x\n\nevent: state\ndata: {\"state\":\"appr", [][3]string{{"", "", "x"}}},
		"one that was cut at a line": {"data: x\n", nil},
		"a name without data":        {"event: state\n\ndata: x\n\n", [][3]string{{"", "", "x"}}},
	} {
		got, err := client.Events(strings.NewReader(tt.in))
		if diff := cmp.Diff(tt.want, got); diff != "" || !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if _, err := client.Events(strings.NewReader("data: " + strings.Repeat("x", 2<<20))); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("an endless line: %v", err)
	}
	if _, err := client.Events(strings.NewReader(strings.Repeat("data: xxxxxxxxxxxxxxx\n", 1<<17))); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("an endless event: %v", err)
	}
}

func TestWhatIsSplicedOutIsTheExactText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":{"b":1}}`: `1`,
		` { "x":[{"a":{"b":9}}], "a" : {"b" : {"c":"}\""} , "d":2 } }`: `{"c":"}\""}`,
		`{"a":{"b":[1,[2,{"b":3}],"]"]}}`:                              `[1,[2,{"b":3}],"]"]`,
		`{"a":{"b":-1.5e+3}}`:                                          `-1.5e+3`,
		`{"a":{"b":null }}`:                                            `null`,
		`{"a":{"b":""}}`:                                               `""`,
	} {
		rest, raw, found := client.Splice([]byte(in), "a", "b")
		if !found || string(raw) != want || !json.Valid(rest) || string(rest) != strings.Replace(in, want, "null", 1) && !strings.Contains(in, `"x"`) {
			t.Errorf("%s: %q of %q, %v", in, raw, rest, found)
		}
	}
	for _, in := range []string{`{`, ``, `[]`, `1`, `{"a":1}`, `{"a":{}}`, `{"a":{"b":1,"b":2}}`, `{"a":{"b":1},"a":{"b":2}}`, `{"a":[{"b":1}]}`} {
		if _, raw, found := client.Splice([]byte(in), "a", "b"); found {
			t.Errorf("%s: %q", in, raw)
		}
	}
}

func FuzzSplice(f *testing.F) {
	for _, seed := range []string{`{"a":{"b":1}}`, `{"a":{"b":"\u0062\"}"},"c":[]}`, `{"a":{"b":{}}`, ` {"a" :{"x":[1,2],"b" : 1e5 } } `, `{"\u0061":{"b":1},"a":{"b":2}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		rest, raw, found := client.Splice([]byte(in), "a", "b")
		if !found {
			return
		}
		if !json.Valid(raw) || !json.Valid(rest) || len(rest) != len(in)-len(raw)+len("null") {
			t.Errorf("%q: %q of %q", in, raw, rest)
		}
	})
}

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"data: x\n\n", "id: 1\r\nevent: a\rdata\n\n", ":\n:\n\n", "data: \x00\n\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := client.Events(strings.NewReader(in))
		if err == nil || len(got) > len(in) {
			t.Errorf("%d events of %d bytes, %v", len(got), len(in), err)
		}
	})
}

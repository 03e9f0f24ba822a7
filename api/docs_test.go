package api_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/api"
	"github.com/seed-de4804fb/verbatim/canon"
)

// TestTheExamplesOfThePageWork sends every http block of docs/api.md, in
// order, and holds the json block behind it against the answer.
func TestTheExamplesOfThePageWork(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	blocks := strings.Split(string(page), "```")
	var got reply
	tried := 0
	programs := map[string]*program{"go": {file: "client/example_test.go", indent: "\t"}, "python": {file: "../examples/loops/loop.py", indent: "    "}}
	for _, p := range programs {
		text, err := os.ReadFile(p.file)
		if err != nil {
			t.Fatal(err)
		}
		p.text = string(text)
	}
	for i := 1; i < len(blocks); i += 2 {
		kind, text, _ := strings.Cut(blocks[i], "\n")
		if kind == "http" {
			got = w.example(text)
			continue
		}
		if program, elsewhere := programs[kind]; elsewhere { // it is run there
			if !strings.Contains(program.text, "\n"+indented(text, program.indent)+"\n") {
				t.Errorf("this is not in %s:\n%s", program.file, text)
			}
			continue
		}
		tried++
		status, err := strconv.Atoi(strings.TrimPrefix(kind, "json "))
		want, bad := canon.Decode([]byte(text), canon.Options{})
		if err != nil || bad != nil {
			t.Fatalf("a block that is neither a request nor an answer: %s, %v", blocks[i], bad)
		}
		if got.status != status {
			t.Errorf("%s\ngot %d %s", text, got.status, got.text)
		}
		holds(t, "", want, got.body)
	}
	if tried != 9 {
		t.Errorf("the page has %d answers, want 9", tried)
	}
	for _, r := range api.Routes() {
		if !strings.Contains(string(page), "`"+r.Method+" "+r.Path+"`") {
			t.Errorf("the page does not name %s %s", r.Method, r.Path)
		}
	}
}

// program is a file that tests run, and how far in it the page's part stands.
type program struct{ file, indent, text string }

func indented(text, by string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = by + line
		}
	}
	return strings.Join(lines, "\n")
}

func (w *world) example(text string) reply {
	head, body, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	lines := strings.Split(head, "\n")
	method, path, _ := strings.Cut(lines[0], " ")
	var headers []string
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		headers = append(headers, name, value)
	}
	return w.ask("maria", method, path, body, headers...)
}

// holds: what the page shows is in the answer; "..." is anything.
func holds(t *testing.T, at string, want, got canon.Value) {
	t.Helper()
	switch {
	case want.Kind() == canon.String && want.Text() == "..." && got.Kind() == canon.String && got.Text() != "":
	case want.Kind() == canon.Object && got.Kind() == canon.Object:
		for _, m := range want.Members() {
			x, found := got.Get(m.Name)
			if !found {
				t.Errorf("the answer lacks %s/%s", at, m.Name)
				continue
			}
			holds(t, at+"/"+m.Name, m.Value, x)
		}
	case want.Kind() == canon.Array && got.Kind() == canon.Array && want.Len() == got.Len():
		for i := range want.Len() {
			holds(t, canon.JoinIndex(at, i), want.At(i), got.At(i))
		}
	case !canon.Equal(want, got):
		t.Errorf("%s is %s, the page says %s", at, got.Canonical(), want.Canonical())
	}
}

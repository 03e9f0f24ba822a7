package models_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
)

var update = flag.Bool("update", false, "write table.pml anew from action.CanMove")

// table is the state table in Promela. Promela's lists of names are written
// from the last to the first.
func table() string {
	var out strings.Builder
	out.WriteString("/* Generated from action.CanMove by go test ./models -run Table -update. */\nmtype = {")
	for i, s := range action.States() {
		if i > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(&out, " %s", s)
	}
	out.WriteString(" };\n\n#define EDGE(f, t) (false")
	for _, from := range action.States() {
		var to []string
		for _, s := range action.States() {
			if action.CanMove(from, s) {
				to = append(to, fmt.Sprintf("(t) == %s", s))
			}
		}
		if len(to) > 0 {
			fmt.Fprintf(&out, " \\\n  || ((f) == %s && (%s))", from, strings.Join(to, " || "))
		}
	}
	out.WriteString(")\n\n#define OVER(s) (false")
	for _, s := range action.States() {
		if s.Terminal() {
			fmt.Fprintf(&out, " || (s) == %s", s)
		}
	}
	out.WriteString(")\n\n/* Every move names its edge; a model that moves otherwise fails. */\n")
	out.WriteString("#define move(s, from, to) assert(s == from && EDGE(from, to)); s = to\n")
	return out.String()
}

func TestTableIsTheOneOfTheCode(t *testing.T) {
	t.Parallel()
	if *update {
		if err := os.WriteFile("table.pml", []byte(table()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("table.pml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table(), string(text)); diff != "" {
		t.Errorf("table.pml is not what action.CanMove says (-code +file); run with -update:\n%s", diff)
	}
}

var moveCall = regexp.MustCompile(`move\([a-z0-9\[\]]+, ([a-z_]+), ([a-z_]+)\)`)

// TestModelsMoveAlongEveryEdge compares the moves that the models name with
// the table, over all pairs.
func TestModelsMoveAlongEveryEdge(t *testing.T) {
	t.Parallel()
	moved := map[[2]action.State][]string{}
	for name, text := range sources(t) {
		if strings.Count(text, "move(") != len(moveCall.FindAllString(text, -1)) {
			t.Errorf("%s has a move that does not name its edge", name)
		}
		for _, m := range moveCall.FindAllStringSubmatch(text, -1) {
			edge := [2]action.State{action.State(m[1]), action.State(m[2])}
			moved[edge] = append(moved[edge], name)
		}
	}
	for _, from := range action.States() {
		for _, to := range action.States() {
			edge := [2]action.State{from, to}
			if named := len(moved[edge]) > 0; named != action.CanMove(from, to) {
				t.Errorf("from %s to %s: moved along %v by %v", from, to, named, moved[edge])
			}
			delete(moved, edge)
		}
	}
	for edge, names := range moved {
		t.Errorf("%v moves between unknown states: %v", names, edge)
	}
}

var bugFlag = regexp.MustCompile(`BUG_[A-Z_]+`)

// TestEveryMutantIsSearched: a rule that can be taken out of a model is taken
// out by some mutant.
func TestEveryMutantIsSearched(t *testing.T) {
	t.Parallel()
	want, got := map[string]bool{}, map[string]bool{}
	for name, text := range sources(t) {
		for _, bug := range bugFlag.FindAllString(text, -1) {
			want[name+" "+bug] = true
		}
	}
	for _, m := range mutants() {
		for _, d := range m.defines {
			if strings.HasPrefix(d, "BUG_") {
				got[m.model+" "+d] = true
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mutants (-models +searched):\n%s", diff)
	}
}

// sources are the models by name, without the generated table.
func sources(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.pml")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(file, ".pml")] = string(text)
	}
	delete(out, "table")
	var named []string
	for _, s := range designs() {
		named = append(named, s.model)
	}
	for name := range out {
		if !slices.Contains(named, name) {
			t.Errorf("%s.pml is searched by nothing", name)
		}
	}
	return out
}

package attacktest

import (
	"encoding/base64"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Case is one attack.
type Case struct {
	Name   string
	Before []Step
	Step
	Frame bool // the text is no JSON: no MCP message can carry it
	Want  Said
}

// Step is one call of a case. "$0" names the action of the first step.
type Step struct {
	Tool            string
	Arguments       string
	ArgumentsBase64 string
	Key             string
	Approval        string
	Vote            string // approve or reject, afterwards
}

// Said is what an entry answered, in the words of the outcome.
type Said struct {
	Status string
	Code   string
	Stage  string
	Member string
	Runs   int // of the whole case

	Violations []string // pointer and rule of each
	Action     string
}

// Refused is the status of an entry that did not take the message at all.
const Refused = "refused"

// Load reads the table. It fails where fewer than 60 of its cases can be
// carried by every entry.
func Load(t testing.TB, path string) []Case {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := canon.Decode(data, canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, _ := v.Get("cases")
	var out []Case
	carried := 0
	for _, x := range list.Elements() {
		c := caseOf(x)
		out = append(out, c)
		if !c.Frame {
			carried++
		}
	}
	if carried < 60 {
		t.Fatalf("%d attacks that every entry can carry, want 60", carried)
	}
	return out
}

// caseOf reads one case. Members that are not there are zero.
func caseOf(v canon.Value) Case {
	frame, _ := v.Get("frame")
	c := Case{Name: text(v, "/name"), Step: stepOf(v), Frame: frame.Bool(),
		Want: Said{Status: text(v, "/want/status"), Code: text(v, "/want/code"), Stage: text(v, "/want/stage"), Member: text(v, "/want/member")}}
	if runs, found := v.Lookup("/want/runs"); found {
		n, _ := runs.Int64()
		c.Want.Runs = int(n)
	}
	if before, found := v.Get("before"); found {
		for _, x := range before.Elements() {
			c.Before = append(c.Before, stepOf(x))
		}
	}
	return c
}

func stepOf(v canon.Value) Step {
	return Step{Tool: text(v, "/tool"), Arguments: text(v, "/arguments"), ArgumentsBase64: text(v, "/argumentsBase64"),
		Key: text(v, "/key"), Approval: text(v, "/approval"), Vote: text(v, "/vote")}
}

// Text is the exact text of the arguments.
func (s Step) Text(t testing.TB) string {
	t.Helper()
	if s.ArgumentsBase64 == "" {
		return s.Arguments
	}
	out, err := base64.StdEncoding.DecodeString(s.ArgumentsBase64)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// named gives a key a name of its own and puts the action that "$N" stands for
// in its place.
func (s Step) named(t testing.TB, salt string, ids []string) Step {
	t.Helper()
	if s.Key != "" {
		s.Key += salt
	}
	if at, found := strings.CutPrefix(s.Approval, "$"); found {
		n, err := strconv.Atoi(at)
		if err != nil || n >= len(ids) || ids[n] == "" {
			t.Fatalf("there is no action %s", s.Approval)
		}
		s.Approval = ids[n]
	}
	return s
}

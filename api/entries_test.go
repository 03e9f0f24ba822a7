package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// attackFile is one table of attacks for every entry.
const attackFile = "../testdata/vectors/attacks.json"

type attack struct {
	Name   string `json:"name"`
	Before []step `json:"before"`
	step
	Frame bool `json:"frame"` // the text is no JSON: no MCP message can carry it
	Want  said `json:"want"`
}

// step is one call of a case. "$0" names the action of the first step.
type step struct {
	Tool            string `json:"tool"`
	Arguments       string `json:"arguments"`
	ArgumentsBase64 string `json:"argumentsBase64"`
	Key             string `json:"key"`
	Approval        string `json:"approval"`
	Vote            string `json:"vote"` // approve or reject, afterwards
}

// said is what an entry answered, in the words of the outcome.
type said struct {
	Status string `json:"status"`
	Code   string `json:"code"`
	Stage  string `json:"stage"`
	Member string `json:"member"`
	Runs   int    `json:"runs"` // of the whole case

	violations []string
	action     string
}

// refused: the entry did not take the message at all.
const refused = "refused"

// entry is one way in. Its tools, rules and people are those of all others.
type entry struct {
	world *world
	// propose makes one call of maria.
	propose func(t *testing.T, s step) said
	// ran lists what ran since the entry was made.
	ran func() []string
}

func attacks(t *testing.T) []attack {
	t.Helper()
	text, err := os.ReadFile(attackFile)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []attack `json:"cases"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

// TestEveryEntryGivesEveryAttackTheSameOutcome runs one table against the
// library, the decision API, its authorize with an executor, MCP over pipes
// and MCP over HTTP.
func TestEveryEntryGivesEveryAttackTheSameOutcome(t *testing.T) {
	t.Parallel()
	cases := attacks(t)
	carried := 0
	for _, c := range cases {
		if !c.Frame {
			carried++
		}
	}
	if carried < 60 {
		t.Errorf("%d attacks that every entry can carry, want 60", carried)
	}
	entries := map[string]entry{"library": libraryEntry(t), "HTTP call": callEntry(t), "HTTP authorize": authorizeEntry(t),
		"MCP stdio": stdioEntry(t), "MCP HTTP": mcpEntry(t)}
	for i, c := range cases {
		first := entries["library"].try(t, i, c)
		for name, e := range entries {
			got := first
			if name != "library" {
				got = e.try(t, i, c)
			}
			checkSaid(t, name, c, first, got)
		}
	}
}

// trial is what became of a case at an entry.
type trial struct {
	said
	ran     []string
	decided int // rows that were made
}

// try runs a case; i makes its keys its own.
func (e entry) try(t *testing.T, i int, c attack) trial {
	t.Helper()
	before, rows := len(e.ran()), e.rows(t)
	var ids []string
	one := func(s step) said {
		if s.Key != "" {
			s.Key += strconv.Itoa(i)
		}
		if at, found := strings.CutPrefix(s.Approval, "$"); found {
			n, err := strconv.Atoi(at)
			if err != nil || n >= len(ids) || ids[n] == "" {
				t.Fatalf("%s: there is no action %s", c.Name, s.Approval)
			}
			s.Approval = ids[n]
		}
		got := e.propose(t, s)
		ids = append(ids, got.action)
		return got
	}
	for _, s := range c.Before {
		got := one(s)
		if s.Vote != "" {
			if _, err := e.world.Vote(got.action, "ada", s.Vote == "approve"); err != nil {
				t.Fatalf("%s: the vote: %v", c.Name, err)
			}
		}
	}
	out := trial{said: one(c.step)}
	out.ran = e.ran()[before:]
	out.Runs, out.decided = len(out.ran), e.rows(t)-rows
	e.clean(t)
	return out
}

// rows counts the actions of maria.
func (e entry) rows(t *testing.T) int {
	t.Helper()
	n, f := 0, action.Filter{Tenant: "acme", Principal: "maria"}
	for {
		found, err := e.world.Store.Actions(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		if n += len(found); len(found) == 0 {
			return n
		}
		f.Before = found[len(found)-1].ID
	}
}

// clean withdraws what waits, so that the next case finds nothing to join.
func (e entry) clean(t *testing.T) {
	t.Helper()
	open, err := e.world.Store.Actions(t.Context(), action.Filter{Tenant: "acme", States: []action.State{action.PendingApproval, action.Approved}})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range open {
		if _, err := e.world.Store.Dismiss(t.Context(), a.ID, a.Principal); err != nil {
			t.Fatal(err)
		}
	}
}

func checkSaid(t *testing.T, name string, c attack, first, got trial) {
	t.Helper()
	if got.Status == refused && name != "library" {
		// What is no JSON breaks the message that should carry it, and MCP has an
		// error of its own for a tool that is not there. Nothing was decided.
		if !c.Frame && (c.Want.Code != string(verbatim.CodeUnknownTool) || !strings.HasPrefix(name, "MCP")) || got.Runs > 0 || got.decided > 0 {
			t.Errorf("%s: %s: it was refused: %+v", name, c.Name, got)
		}
		return
	}
	if got.Status != c.Want.Status || got.Code != c.Want.Code || got.Stage != c.Want.Stage || got.Runs != c.Want.Runs ||
		c.Want.Member != "" && got.Member != c.Want.Member {
		t.Errorf("%s: %s: %+v, want %+v", name, c.Name, got, c.Want)
		return
	}
	if diff := cmp.Diff(first.violations, got.violations); diff != "" || got.Member != first.Member || !slices.Equal(first.ran, got.ran) {
		t.Errorf("%s: %s: not as in the library: %s ran %v, not %v\n%s", name, c.Name, got.Member, got.ran, first.ran, diff)
	}
}

// text is the exact text of the arguments.
func (s step) text(t *testing.T) string {
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

// envelopeSaid reads an outcome in its wire form.
func envelopeSaid(envelope canon.Value) said {
	at := func(pointer string) string { return reply{body: envelope}.at(pointer) }
	out := said{Status: at("/status"), Code: at("/code"), Stage: at("/data/stage"), Member: at("/data/member"), action: at("/data/actionId")}
	if list, found := envelope.Lookup("/data/violations"); found {
		for _, v := range list.Elements() {
			out.violations = append(out.violations, reply{body: v}.at("/pointer")+" "+reply{body: v}.at("/rule"))
		}
	}
	return out
}

func libraryEntry(t *testing.T) entry {
	t.Helper()
	w := newWorld(t)
	gate := w.Gate.With(w.toolset(t))
	return entry{world: w, ran: w.seen, propose: func(t *testing.T, s step) said {
		o, err := gate.Call(t.Context(), w.Session(), verbatim.Call{Tool: s.Tool, Arguments: []byte(s.text(t)), IdempotencyKey: s.Key, Approval: s.Approval})
		if err != nil {
			t.Error(err)
		}
		v, err := canon.Decode(o.Envelope(), canon.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return envelopeSaid(v)
	}}
}

// asked sends a step to a route of the API.
func (w *world) asked(t *testing.T, path string, s step) reply {
	t.Helper()
	arguments := s.text(t)
	body := `{"toolName":` + quote(s.Tool) + `,"arguments":"` + arguments + `"}` // if it is not UTF-8, no JSON can hold it
	if s.ArgumentsBase64 == "" {
		var extra []string
		if s.Approval != "" {
			extra = []string{"approval", quote(s.Approval)}
		}
		body = bodyOf(s.Tool, arguments, extra...)
	}
	var headers []string
	if s.Key != "" {
		headers = []string{"Idempotency-Key", s.Key}
	}
	return w.ask("maria", http.MethodPost, path, body, headers...)
}

// replySaid reads an answer of the API.
func replySaid(got reply) said {
	if envelope, found := got.body.Get("outcome"); found {
		return envelopeSaid(envelope)
	}
	return said{Status: refused, Code: got.at("/code")}
}

func callEntry(t *testing.T) entry {
	t.Helper()
	w := newWorld(t)
	return entry{world: w, ran: w.seen, propose: func(t *testing.T, s step) said {
		return replySaid(w.asked(t, "/v1/call", s))
	}}
}

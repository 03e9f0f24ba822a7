package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keyedNotes writes a catalog in which the tool that adds takes a key, and
// makes the server keep keys. It returns the file of the keys.
func (p *place) keyedNotes(effect string) string {
	p.t.Helper()
	if out, err := p.command("catalog", "import", "--write", "--name", "notes", "--", "notes-mcp").CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(p.home.Catalog())
	if err != nil {
		p.t.Fatal(err)
	}
	const head = "  \"notes.add\":\n"
	if !strings.Contains(string(text), head) {
		p.t.Fatalf("the catalog has no such entry:\n%s", text)
	}
	class := head + "    effect: " + effect + "\n    retention: 1h\n"
	if err := os.WriteFile(p.home.Catalog(), []byte(strings.Replace(string(text), head, class, 1)), 0o600); err != nil {
		p.t.Fatal(err)
	}
	keys := filepath.Join(filepath.Dir(p.notes), "keys")
	p.env = append(p.env, "NOTES_KEYS="+keys)
	return keys
}

// lines are the words of a file, one each.
func (p *place) lines(file string) []string {
	p.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	return strings.Fields(string(text))
}

const slowNote = `{"text":"once","slowMs":25000}`

// oneKey fails unless the server got one key, this often, and did it once.
func (p *place) oneKey(keys string, times int) {
	p.t.Helper()
	got := p.lines(keys)
	if len(got) != times || got[0] != got[len(got)-1] {
		p.t.Errorf("the server got the keys %v, want one key %d times", got, times)
	}
	if diff := cmp.Diff([]string{"once"}, p.written()); diff != "" {
		p.t.Errorf("effects (-want +got):\n%s", diff)
	}
}

func TestServeSettlesByItselfWhatAKilledDaemonLeft(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "200ms")
	keys := p.keyedNotes("keyed")
	servers := "  notes: {command: notes-mcp, env: {NOTES: " + p.notes + ", NOTES_KEYS: " + keys + "}}\n"
	first := p.serve(servers)
	p.setup()
	c := agent{ClientSession: first.client("2025-11-25")}
	id := p.call(c, "add", slowNote, "").Action
	p.approve(id)
	go func() { _, _ = callTool(p.context(), c, "add", slowNote, id) }() // the daemon dies under it
	p.eventually("the tool runs", func() bool { return len(p.written()) == 1 })
	p.kill()
	p.serve(servers) // no client comes
	p.eventually("it is settled", func() bool { return p.state(id) == "succeeded" })
	p.oneKey(keys, 2)
}

func TestWrapSettlesWhatAKilledDaemonLeftOnceItsClientIsBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "200ms")
	keys := p.keyedNotes("keyed")
	a := p.notesAgent()
	p.setup()
	id := p.call(a, "add", slowNote, "").Action
	p.approve(id)
	go func() { _, _ = callTool(p.context(), a, "add", slowNote, id) }() // the daemon dies under it
	p.eventually("the tool runs", func() bool { return len(p.written()) == 1 })
	p.kill()
	env := p.env
	p.env = append(p.env[:len(p.env):len(p.env)], "SERVICE_ACCOUNT=another") // another account at the provider
	other := p.notesAgent()
	if _, err := other.ListTools(p.context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := p.call(other, "add", slowNote, id); got.Code != "outcome_uncertain" {
		t.Errorf("the call again came back with %+v", got)
	}
	p.env = append(env[:len(env):len(env)], "SHLVL=7") // the same one, from another shell
	back := p.notesAgent()
	if _, err := back.ListTools(p.context(), nil); err != nil {
		t.Fatal(err)
	}
	p.eventually("it is settled", func() bool { return p.state(id) == "succeeded" })
	p.oneKey(keys, 2)
	if got := p.call(back, "add", slowNote, id); got.Text != "added" {
		t.Errorf("the call again came back with %+v", got)
	}
}

func TestServeLeavesABlindToolsRunToAPerson(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "200ms")
	servers := "  notes: {command: notes-mcp, env: {NOTES: " + p.notes + "}}\n"
	first := p.serve(servers)
	p.setup()
	c := agent{ClientSession: first.client("2025-11-25")}
	id := p.call(c, "add", slowNote, "").Action
	p.approve(id)
	go func() { _, _ = callTool(p.context(), c, "add", slowNote, id) }() // the daemon dies under it
	p.eventually("the tool runs", func() bool { return len(p.written()) == 1 })
	p.kill()
	second := p.serve(servers)
	d := agent{ClientSession: second.client("2025-11-25")}
	if got := p.call(d, "add", slowNote, ""); got.Code != "outcome_uncertain" {
		t.Errorf("the call again came back with %+v", got)
	}
	if got := p.state(id); got != "uncertain" {
		t.Errorf("it is %s", got)
	}
	if diff := cmp.Diff([]string{"once"}, p.written()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

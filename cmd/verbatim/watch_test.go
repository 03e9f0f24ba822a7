package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

// TestWatchedFiguresExist: what docs/operations.md wants to be told about is a
// state that is counted, or a member of status --json; and each such state is
// told of there.
func TestWatchedFiguresExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Watching\n")
	section, _, _ = strings.Cut(section, "\n## ")
	told := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1) {
		told[row[1]] = true
	}
	if len(told) < len(action.Open()) {
		t.Fatalf("only %d figures in:\n%s", len(told), section)
	}
	for _, state := range action.Open() {
		if !told[string(state)] {
			t.Errorf("%s is not told of", state)
		}
		delete(told, string(state))
	}
	raw, err := json.Marshal(daemon.Overview{StoreBytes: 1, Sinks: []daemon.SinkLag{{}}, Mistakes: []string{"one"}})
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatal(err)
	}
	for name := range told {
		if _, ok := members[name]; !ok {
			t.Errorf("status has no %s", name)
		}
	}
}

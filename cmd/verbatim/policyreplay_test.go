package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/pgtest"
)

func TestSpanIsSoLongAgoOrAnInstant(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 3, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"30d": now.AddDate(0, 0, -30), "0d": now, "90m": now.Add(-90 * time.Minute), "1h30m": now.Add(-90 * time.Minute),
		"2026-05-04T12:00:00Z": time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC),
	} {
		if got, err := ago(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "-1h", "30", "1.5d", "99999999d", "yesterday"} {
		if got, err := ago(text, now); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// TestReplayOfASharedStore decides again, by the command, what a gateway has
// recorded on PostgreSQL: beside its daemon and without it, and writes
// nothing.
func TestReplayOfASharedStore(t *testing.T) {
	t.Parallel()
	p := sharing(t, pgtest.Start(t).Schema(t), nil)
	p.says(t, true, "", "catalog", "import", "--write", "--name", "notes", "--trust-read-hints", "--", "notes-mcp")
	agent := p.notesAgent()
	p.setup()
	asked := make(chan error, 1)
	go func() {
		_, err := callTool(p.context(), agent, "add", `{"text":"one canary"}`, "")
		asked <- err
	}()
	p.eventually("the call waits", func() bool {
		out, err := p.command("approvals", "list").CombinedOutput()
		return err == nil && actionID.Match(out)
	})
	if _, err := callTool(p.context(), agent, "list", `{}`, ""); err != nil {
		t.Fatal(err)
	}
	next := filepath.Join(t.TempDir(), "next.cedar")
	if err := os.WriteFile(next, []byte(`@id("reads") permit (principal, action in Action::"read", resource);
@id("no-notes") forbid (principal, action == Action::"notes.add", resource) when { context.args.text like "*canary*" };
`), 0o600); err != nil {
		t.Fatal(err)
	}
	replays := func(when string) {
		out, err := p.command("policy", "replay", "--since", "1h").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "0 changes, 0 unexpected") {
			t.Errorf("%s, under the policy in force: %v %s", when, err, out)
		}
		out, err = p.command("policy", "replay", "--policy", next, "--since", "1h").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "1 changes, 1 unexpected") && !strings.Contains(string(out), "1 change, 1 unexpected") ||
			!strings.Contains(string(out), "open approvals that would be void") || strings.Contains(string(out), "canary") {
			t.Errorf("%s, under another one: %v %s", when, err, out)
		}
	}
	replays("beside the daemon")
	p.says(t, true, "", "stop")
	<-asked
	replays("without the daemon")
	p.says(t, true, "none", "store", "check")
}

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-de4804fb/verbatim/internal/config"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"verbatim":   func() { os.Exit(run()) },
		"notes-mcp":  notesServer,
		"mcp-call":   mcpCall,
		"sleep-ms":   sleepMS,
		"mcp-tap":    mcpTap,
		"leaky-mcp":  leakyServer,
		"attack-mcp": attackedServer,
	})
}

// TestScripts runs every script of testdata/script against this very binary.
// The first word of a script's name is the command that it is about.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "../../testdata/script", Setup: freshHome,
		RequireExplicitExec: true, Cmds: scriptCommands})
}

var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){"first-id": firstID,
	"waitfor": waitFor, "exact": exact, "digest-of": digestOf}

// digestOf puts the live digest of a tool into a variable: digest-of FILE TOOL
// VARIABLE, where FILE is what catalog diff --json printed.
func digestOf(ts *testscript.TestScript, _ bool, args []string) {
	_, rest, _ := strings.Cut(ts.ReadFile(args[0]), `"`+args[1]+`"`)
	_, rest, _ = strings.Cut(rest, `"live"`)
	found := regexp.MustCompile(`[0-9a-f]{64}`).FindString(rest)
	if found == "" {
		ts.Fatalf("%s holds no digest of %s", args[0], args[1])
	}
	ts.Setenv(args[2], found)
}

// waitFor waits until a file exists and holds a text: waitfor FILE [TEXT].
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && strings.Contains(string(text), strings.Join(args[1:], " ")) {
			return
		}
	}
	ts.Fatalf("%s does not appear", strings.Join(args, " with "))
}

var actionID = regexp.MustCompile(`act_[a-z0-9]+`)

// firstID puts the first action id of a file into a variable: first-id FILE
// VARIABLE.
func firstID(ts *testscript.TestScript, _ bool, args []string) {
	id := actionID.FindString(ts.ReadFile(args[0]))
	if id == "" {
		ts.Fatalf("%s holds no action id", args[0])
	}
	ts.Setenv(args[1], id)
}

// freshHome gives a script a home of its own, and ends its daemon afterwards.
func freshHome(e *testscript.Env) error { return homeAt(e, e.WorkDir+"/home") }

func homeAt(e *testscript.Env, home string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	settings := "listen: 127.0.0.1:0\nwait: 200ms\n"
	if err := os.WriteFile(home+"/verbatim.yaml", []byte(settings), 0o600); err != nil {
		return err
	}
	e.Setenv(config.HomeVariable, home)
	e.Setenv("NOTES", e.WorkDir+"/notes.txt")
	earlier, err := filepath.Abs("../../examples/verifier/testdata")
	if err != nil {
		return err
	}
	e.Setenv("EARLIER", earlier)
	e.Defer(func() { endDaemon(home) })
	return nil
}

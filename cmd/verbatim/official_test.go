package main

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-de4804fb/verbatim/internal/needs"
)

// TestOfficialServersAndClients runs the scripts that need peers which we did
// not write.
func TestOfficialServersAndClients(t *testing.T) {
	t.Parallel()
	for _, peer := range []string{"mcp-server-filesystem", "mcp-server-memory", "mcp-server-everything", "mcp-server-sequential-thinking", "mcp-inspector"} {
		needs.Peer(t, peer)
	}
	testscript.Run(t, testscript.Params{Dir: "../../testdata/script/official", RequireExplicitExec: true, Cmds: scriptCommands,
		Setup: func(e *testscript.Env) error {
			for _, pair := range needs.Env(t) {
				if path, ok := strings.CutPrefix(pair, "PATH="); ok {
					e.Setenv("PATH", path)
				}
			}
			e.Setenv("HOME", e.WorkDir) // clients hand on HOME and PATH, and little else
			return homeAt(e, e.WorkDir+"/.config/verbatim")
		}})
}

// exact compares a file with a text, to the byte: exact FILE TEXT.
func exact(ts *testscript.TestScript, neg bool, args []string) {
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	if (string(text) == args[1]) == neg {
		ts.Fatalf("%s holds %d bytes, which is not what was expected of it", args[0], len(text))
	}
}

package main

import (
	"context"
	"os"
	"os/user"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-de4804fb/verbatim/internal/newcomertest"
)

// ProgramsVariable is a directory whose verbatim the newcomer runs, such as
// that of a fresh clone that was built as README.md says; this very binary
// without it.
const ProgramsVariable = "VERBATIM_NEWCOMER_PROGRAMS"

// TestANewcomerGoesByTheREADME does what README.md says, and then goes by the
// words of the page alone.
func TestANewcomerGoesByTheREADME(t *testing.T) {
	t.Parallel()
	browser := newcomertest.Browser(t)
	testscript.Run(t, testscript.Params{Dir: "../../testdata/script/newcomer", RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"person": person(browser)},
		Setup: func(e *testscript.Env) error {
			me, err := user.Current()
			if err != nil {
				return err
			}
			e.Setenv("USERNAME", me.Username) // setup offers it
			if dir := os.Getenv(ProgramsVariable); dir != "" {
				e.Setenv("PROGRAMS", dir+string(os.PathListSeparator))
			}
			return freshHome(e)
		}})
}

// person does one step before the browser: person enter FILE, whose last line
// is an address, or person press|open|unfold|reads WORDS, or person write
// LABEL TEXT.
func person(browser context.Context) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		n := newcomertest.At(browser)
		args = append(args, "", "")
		steps := map[string]func() error{
			"enter": func() error {
				lines := strings.Fields(ts.ReadFile(args[1]))
				return n.Enter(lines[len(lines)-1])
			},
			"press": func() error { return n.Press(args[1]) }, "open": func() error { return n.Open(args[1]) },
			"unfold": func() error { return n.Unfold(args[1]) }, "reads": func() error { return n.Reads(args[1]) },
			"write": func() error { return n.Write(args[1], args[2]) },
		}
		step, known := steps[args[0]]
		if !known {
			ts.Fatalf("nobody can %q", args[0])
		}
		ts.Check(step())
	}
}

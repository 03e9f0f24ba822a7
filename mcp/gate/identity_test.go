package gate_test

import (
	"testing"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
)

func TestIdentityNamesWhatACommandWorksOn(t *testing.T) {
	t.Parallel()
	one := gate.Command{Path: "npx", Args: []string{"-y", "server"}, Dir: "/srv", Env: []string{"KEY=a", "PATH=/bin", "SHLVL=1", "TERM_PROGRAM=x"}}
	for name, tc := range map[string]struct {
		change func(*gate.Command)
		same   bool
	}{
		"nothing":       {func(*gate.Command) {}, true},
		"another order": {func(c *gate.Command) { c.Env = []string{"PATH=/bin", "TERM_PROGRAM=x", "KEY=a", "SHLVL=1"} }, true},
		"another shell and client": {func(c *gate.Command) {
			c.Env = []string{"KEY=a", "PATH=/bin", "SHLVL=9", "TMUX=1", "CLAUDE_CODE_X=1", "PWD=/x"}
		}, true},
		"another program":                   {func(c *gate.Command) { c.Path = "node" }, false},
		"another argument":                  {func(c *gate.Command) { c.Args = []string{"-y", "other"} }, false},
		"arguments divided anew":            {func(c *gate.Command) { c.Args = []string{"-yserver"} }, false},
		"an argument as variable":           {func(c *gate.Command) { c.Args, c.Env = []string{"-y"}, append([]string{"server"}, c.Env...) }, false},
		"another directory":                 {func(c *gate.Command) { c.Dir = "/home" }, false},
		"another value":                     {func(c *gate.Command) { c.Env = []string{"KEY=b", "PATH=/bin"} }, false},
		"a variable more":                   {func(c *gate.Command) { c.Env = append(c.Env[:len(c.Env):len(c.Env)], "MORE=1") }, false},
		"a name that begins like a shell's": {func(c *gate.Command) { c.Env = append(c.Env[:len(c.Env):len(c.Env)], "PWD_FILE=1") }, false},
	} {
		other := one
		tc.change(&other)
		if got := other.Identity() == one.Identity(); got != tc.same {
			t.Errorf("%s: the same server: %t", name, got)
		}
	}
	if gate.Identify("a", "bc") == gate.Identify("ab", "c") || gate.Identify("a") == gate.Identify("a", "") {
		t.Error("two lists of texts have one identity")
	}
}

package gate

import (
	"crypto/rand"
	"encoding/binary"
	"path"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Identify names a server by how it is reached: the digest of texts that
// together say which one it is. What was sent to a server and is uncertain is
// looked up and sent again at a server of the same identity only.
func Identify(texts ...string) canon.Digest {
	var all []byte
	for _, text := range texts {
		all = binary.AppendUvarint(all, uint64(len(text)))
		all = append(all, text...)
	}
	return canon.Sum(all)
}

// unnamed is an identity that no other server ever has.
func unnamed() canon.Digest { return Identify("unnamed", rand.Text()) }

// Identity names the server that the command starts: program, arguments,
// directory and environment, without what terminals, shells and clients set
// anew each time. It does not look into the program.
func (c Command) Identity() canon.Digest {
	texts := append([]string{"command", c.Path, c.Dir}, c.Args...)
	texts = append(texts, "environment")
	env := slices.DeleteFunc(slices.Clone(c.Env), passing)
	slices.Sort(env)
	return Identify(append(texts, env...)...)
}

// passingNames are patterns of variables that say where somebody sits, not
// what a server works on.
var passingNames = []string{"_", "SHLVL", "PWD", "OLDPWD", "COLUMNS", "LINES", "TERM", "COLORTERM", "TERM_*", "WINDOWID", "TMUX", "TMUX_*",
	"STY", "WINDOW", "SSH_*", "XDG_SESSION_*", "DBUS_SESSION_*", "GPG_TTY", "INVOCATION_ID", "JOURNAL_STREAM", "VSCODE_*", "CURSOR_*",
	"CLAUDECODE", "CLAUDE_CODE_*", "__*"}

func passing(pair string) bool {
	name, _, _ := strings.Cut(pair, "=")
	return slices.ContainsFunc(passingNames, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

package launch

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Command is how somebody wants to start a server.
type Command struct {
	Program     string // as it was given
	Arguments   []string
	Environment []string // NAME=value
	Dir         string   // where a relative program is
}

// Names says what a pin covers beside program and arguments.
type Names struct {
	Environment []string // variables whose value is pinned
	Secrets     []string // variables that the server gets whatever their value is
	Files       []string // more files whose content is pinned, such as a script
}

// Pin is one approved way to start a server.
type Pin struct {
	Program     string // absolute
	SHA256      canon.Digest
	Arguments   []string
	Environment map[string]canon.Digest // of values; the zero digest stands for a variable that is not set
	Secrets     []string
	Files       map[string]canon.Digest // by absolute path
}

// maxProgram bounds what is read of a program, in bytes.
const maxProgram = 2 << 30

var errLarge = errors.New("the file is too large to be pinned")

// Take makes the pin of a command as it is now.
func Take(c Command, n Names) (Pin, error) {
	p := Pin{Arguments: slices.Clone(c.Arguments), Environment: map[string]canon.Digest{}, Files: map[string]canon.Digest{}, Secrets: slices.Clone(n.Secrets)}
	slices.Sort(p.Secrets)
	var err error
	if p.Program, err = located(c.Program, c.Dir); err != nil {
		return Pin{}, err
	}
	if p.SHA256, err = content(p.Program); err != nil {
		return Pin{}, fmt.Errorf("the program: %w", err)
	}
	for _, name := range n.Environment {
		p.Environment[name] = valueOf(c.Environment, name)
	}
	for _, file := range n.Files {
		if !filepath.IsAbs(file) {
			file = filepath.Join(c.Dir, file)
		}
		if p.Files[file], err = content(file); err != nil {
			return Pin{}, fmt.Errorf("the file: %w", err)
		}
	}
	return p, nil
}

// located finds a program as exec does, with its absolute path.
func located(program, dir string) (string, error) {
	if filepath.Base(program) != program && !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("the program was not found: %w", errors.Unwrap(err))
	}
	return filepath.Abs(path)
}

// content is the digest of a regular file, behind links.
func content(path string) (canon.Digest, error) {
	f, err := os.Open(path)
	if err != nil {
		return canon.Digest{}, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(f, maxProgram+1))
	if err == nil && n > maxProgram {
		err = errLarge
	}
	if err != nil {
		return canon.Digest{}, err
	}
	return canon.Digest(sum.Sum(nil)), nil
}

// valueOf is the digest of a variable's value, which is bound to its name; the
// last one of a name counts, as for programs.
func valueOf(env []string, name string) canon.Digest {
	found := canon.Digest{}
	for _, pair := range env {
		if n, value, _ := strings.Cut(pair, "="); n == name {
			found = canon.Sum([]byte(n + "\x00" + value))
		}
	}
	return found
}

// Differences says where a command is not the pinned one, in words that hold
// no value: none means that it is.
func (p Pin) Differences(c Command) []string {
	var out []string
	if path, err := located(c.Program, c.Dir); err != nil || path != p.Program {
		out = append(out, "the program's path")
	} else if sum, err := content(path); err != nil || sum != p.SHA256 {
		out = append(out, "the program's content")
	}
	for i := range max(len(p.Arguments), len(c.Arguments)) {
		if i >= len(p.Arguments) || i >= len(c.Arguments) || p.Arguments[i] != c.Arguments[i] {
			out = append(out, fmt.Sprintf("argument %d", i+1))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Environment)) {
		if valueOf(c.Environment, name) != p.Environment[name] {
			out = append(out, "the variable "+name)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(p.Files)) {
		if sum, err := content(path); err != nil || sum != p.Files[path] {
			out = append(out, "the content of "+path)
		}
	}
	return out
}

// Variables are the names that the server gets beside what every program
// needs.
func (p Pin) Variables() []string {
	return slices.Concat(slices.Sorted(maps.Keys(p.Environment)), p.Secrets)
}

// Names is what the pin covers, so that a new one covers the same.
func (p Pin) Names() Names {
	return Names{Environment: slices.Sorted(maps.Keys(p.Environment)), Secrets: p.Secrets, Files: slices.Sorted(maps.Keys(p.Files))}
}

// Digest names the pin: SHA-256 of its RFC 8785 form.
func (p Pin) Digest() canon.Digest { return canon.Sum(p.value().Canonical()) }

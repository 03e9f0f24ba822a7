package launch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/launch"
)

// program makes a file that can be run.
func program(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestDifferencesFromThePinAreSaidByPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool, script := filepath.Join(dir, "tool.exe"), filepath.Join(dir, "server.js")
	program(t, tool, "one")
	program(t, filepath.Join(dir, "other.exe"), "one")
	program(t, script, "run()")
	good := launch.Command{Program: "./tool.exe", Arguments: []string{"-y", "server", "/srv"}, Dir: dir,
		Environment: []string{"URL=https://a.example.com", "TOKEN=canary-value", "X=1"}}
	names := launch.Names{Environment: []string{"URL", "MODE"}, Secrets: []string{"TOKEN"}, Files: []string{"server.js"}}
	pin, err := launch.Take(good, names)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*launch.Command)) launch.Command {
		c := good
		c.Arguments = append([]string(nil), good.Arguments...)
		c.Environment = append([]string(nil), good.Environment...)
		change(&c)
		return c
	}
	for _, tt := range []struct {
		name string
		c    launch.Command
		want []string
	}{
		{"the pinned one", good, nil},
		{"its absolute path", with(func(c *launch.Command) { c.Program = tool }), nil},
		{"another secret", with(func(c *launch.Command) { c.Environment[1] = "TOKEN=other" }), nil},
		{"another program of the same content", with(func(c *launch.Command) { c.Program = "./other.exe" }), []string{"the program's path"}},
		{"no program", with(func(c *launch.Command) { c.Program = "./none.exe" }), []string{"the program's path"}},
		{"another argument", with(func(c *launch.Command) { c.Arguments[2] = "/" }), []string{"argument 3"}},
		{"one more", with(func(c *launch.Command) { c.Arguments = append(c.Arguments, "--all") }), []string{"argument 4"}},
		{"one less", with(func(c *launch.Command) { c.Arguments = c.Arguments[:2] }), []string{"argument 3"}},
		{"another value", with(func(c *launch.Command) { c.Environment[0] = "URL=https://b.example.com" }), []string{"the variable URL"}},
		{"a later value", with(func(c *launch.Command) { c.Environment = append(c.Environment, "URL=x") }), []string{"the variable URL"}},
		{"no value", with(func(c *launch.Command) { c.Environment = c.Environment[1:] }), []string{"the variable URL"}},
		{"one that was not set", with(func(c *launch.Command) { c.Environment = append(c.Environment, "MODE=") }), []string{"the variable MODE"}},
	} {
		if diff := cmp.Diff(tt.want, pin.Differences(tt.c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	program(t, tool, "two")
	program(t, script, "evil()")
	if diff := cmp.Diff([]string{"the program's content", "the content of " + script}, pin.Differences(good)); diff != "" {
		t.Error(diff)
	}
}

func TestBookKeepsPinsAndNoValues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool := filepath.Join(dir, "tool.exe")
	program(t, tool, "one")
	c := launch.Command{Program: tool, Arguments: []string{"a\u2028b", ""}, Dir: dir, Environment: []string{"URL=canary-value"}}
	pin, err := launch.Take(c, launch.Names{Environment: []string{"URL"}, Secrets: []string{"B", "A"}, Files: []string{tool}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "home", "servers.json")
	if err := (launch.Book{"files": pin}).Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := launch.Read(path)
	if diff := cmp.Diff(launch.Book{"files": pin}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got["files"].Digest() != pin.Digest() || len(got["files"].Differences(c)) > 0 {
		t.Error("what was read is another pin")
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "canary-value") {
		t.Errorf("the book holds a value: %v", err)
	}
	for name, bad := range map[string]string{"half": string(text[:len(text)/2]), "empty": "", "another version": strings.Replace(string(text), `"version":"1"`, `"version":"2"`, 1),
		"a pin without a program": strings.Replace(string(text), `"program"`, `"programm"`, 1), "twice": strings.Replace(string(text), `"servers":{`, `"servers":{"files":5,`, 1),
		"a relative program": strings.Replace(string(text), `"program":"`+tool, `"program":"tool.exe`, 1), "a pin more": strings.Replace(string(text), `"secrets"`, `"more":1,"secrets"`, 1)} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := launch.Read(path); err == nil {
			t.Errorf("%s: the book was read", name)
		}
	}
	if none, err := launch.Read(filepath.Join(dir, "none")); err != nil || len(none) != 0 {
		t.Errorf("a book that is not there: %v, %v", none, err)
	}
}

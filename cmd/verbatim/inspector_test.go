package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/needs"
)

// inspection runs the MCP Inspector's command line, a client that we did not
// write, on the reference file server: alone, or behind the built binary.
type inspection struct {
	t                    *testing.T
	inspector, home, dir string
	binary               string
	env                  []string
}

func newInspection(t *testing.T) *inspection {
	t.Helper()
	i := &inspection{t: t, inspector: needs.Peer(t, "mcp-inspector"), home: t.TempDir(), dir: t.TempDir()}
	i.binary = filepath.Join(t.TempDir(), "verbatim")
	if runtime.GOOS == "windows" {
		i.binary += ".exe"
	}
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", i.binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	if err := os.Chmod(i.home, 0o700); err != nil {
		t.Fatal(err)
	}
	settings := "listen: 127.0.0.1:0\nwait: 200ms\n"
	if err := os.WriteFile(config.Home(i.home).Config(), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	i.env = append(needs.Env(t), config.HomeVariable+"="+i.home, "HOME="+t.TempDir())
	t.Cleanup(func() { i.run(i.binary, "stop") })
	return i
}

// run returns what a program prints, and whether it ended well.
func (i *inspection) run(program string, args ...string) (string, bool) {
	i.t.Helper()
	cmd := exec.Command(program, args...)
	var out, faults bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = i.env, i.dir, &out, &faults
	err := cmd.Run()
	i.t.Logf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, faults.String())
	return out.String(), err == nil
}

func (i *inspection) alone(method ...string) (string, bool) {
	i.t.Helper()
	return i.run(i.inspector, append([]string{"--cli", "mcp-server-filesystem", i.dir}, method...)...)
}

func (i *inspection) wrapped(method ...string) (string, bool) {
	i.t.Helper()
	args := append([]string{"--cli", i.binary, "wrap", "--", "mcp-server-filesystem", i.dir}, method...)
	// The Inspector hands a server a short list of variables only.
	return i.run(i.inspector, append(args, "-e", config.HomeVariable+"="+i.home)...)
}

func TestTheInspectorSeesTheSameToolsBehindWrap(t *testing.T) {
	t.Parallel()
	i := newInspection(t)
	want, ok := i.alone("--method", "tools/list")
	if !ok || !strings.Contains(want, `"write_file"`) {
		t.Fatalf("the server alone lists %s", want)
	}
	got, ok := i.wrapped("--method", "tools/list")
	if !ok {
		t.Fatal("the inspector failed behind wrap")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-alone +wrapped):\n%s", diff)
	}
}

func TestTheInspectorWritesNothingThatNobodyApproved(t *testing.T) {
	t.Parallel()
	i := newInspection(t)
	file := filepath.Join(i.dir, "new.txt")
	write := []string{"--method", "tools/call", "--tool-name", "write_file", "--tool-arg", "path=" + file, "content=x"}
	out, _ := i.wrapped(write...)
	if !strings.Contains(out, `\"code\":\"no_approver\"`) {
		t.Errorf("the inspector did not understand the answer: %s", out)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Fatalf("the file was written: %v; answer %s", err, out)
	}
	if _, ok := i.alone(write...); !ok {
		t.Fatal("the server alone does not write either, so the test shows nothing")
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("the server alone wrote nothing: %v", err)
	}
}

// Package needs finds the programs that some tests run beside Verbatim: a
// browser, PostgreSQL, Spin, and reference MCP peers under a pinned Node.
//
// It takes a test and a name and gives a path. Where a program is missing,
// the test is skipped with the command that would install it; with
// VERBATIM_TEST_TOOLS=required, which make test sets, it fails instead, so
// that a full run never passes by leaving tests out. It installs nothing and
// must be imported by tests only.
package needs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Variable is the environment variable that make test sets to "required".
const Variable = "VERBATIM_TEST_TOOLS"

const required = "required"

// Browser returns the path of a Chromium-like browser.
func Browser(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "chromium")
	return ""
}

// Postgres returns the directory that holds the programs of PostgreSQL 15 or
// later, among them initdb and postgres. Debian keeps them out of PATH.
func Postgres(t testing.TB) string {
	t.Helper()
	for version := 20; version >= 15; version-- {
		dir := filepath.Join("/usr/lib/postgresql", strconv.Itoa(version), "bin")
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil {
			return dir
		}
	}
	missing(t, "postgresql")
	return ""
}

// Module returns the directory of a Go module, "path@version", in the module
// cache.
func Module(t testing.TB, module string) string {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(cache)), filepath.FromSlash(module))
	if _, err := os.Stat(dir); err != nil {
		missing(t, module)
	}
	return dir
}

// Program returns the path of a program of the machine, such as spin.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name)
	}
	return path
}

// Peer returns the path of a program from testdata/npm, such as
// mcp-server-filesystem, mcp-server-memory or mcp-inspector. Run it with
// [Env], or it starts under whatever Node the machine has.
func Peer(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(bin(t), name)
	if _, err := os.Stat(path); err != nil {
		missing(t, name)
	}
	return path
}

// Script returns the path of a file of a package from testdata/npm, such as
// axe-core/axe.min.js.
func Script(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(bin(t)), filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		missing(t, name)
	}
	return path
}

// Env returns the environment of this process with the pinned programs first
// in PATH.
func Env(t testing.TB) []string {
	t.Helper()
	env := make([]string, 0, len(os.Environ())+1)
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "PATH=") {
			env = append(env, pair)
		}
	}
	return append(env, "PATH="+bin(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// bin is testdata/npm/node_modules/.bin of the repository that holds the
// test; go test starts each test in its package's directory.
func bin(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata", "npm", "node_modules", ".bin")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test's directory")
		}
		dir = parent
	}
}

func missing(t testing.TB, name string) {
	t.Helper()
	if os.Getenv(Variable) == required {
		t.Fatalf("%s is missing; run scripts/test-tools", name)
	}
	t.Skipf("%s is not installed; run scripts/test-tools to run this test too", name)
}

package soak_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == childArg {
		notes(os.Args[2])
		return
	}
	os.Exit(built(m))
}

func built(m *testing.M) int {
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "verbatim")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "../../cmd/verbatim").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

const token = "a-token-of-the-soak-test-0001"

// gateway is one verbatim serve process.
type gateway struct {
	t    *testing.T
	home string

	mu  sync.Mutex
	cmd *exec.Cmd
	url string

	settings func(start int) string // the configuration, by how long servers may take to start
	changed  int                    // how often it was replaced
}

// newGateway writes a home; the keys come from the first one.
func newGateway(t *testing.T, dsn, notesFile, farURL string, first *gateway) *gateway {
	t.Helper()
	g := &gateway{t: t, home: filepath.Join(t.TempDir(), "home")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(g.home, 0o700); err != nil {
		t.Fatal(err)
	}
	g.write("store.dsn", dsn+"\n")
	g.write("token", token+"\n")
	g.write("rules.cedar", "@id(\"all\") permit (principal, action, resource);\n")
	g.write("catalog.yaml", catalogText(t))
	g.settings = func(start int) string {
		return fmt.Sprintf(`listen: 127.0.0.1:0
wait: 1s
policy: rules.cedar
store:
  postgres:
    dsn: {file: store.dsn}
    requireSync: false
    connections: 8
servers:
  notes: {command: %q, args: [%s, %q], start: %ds}
  far: {url: %q}
endpoint:
  listen: 127.0.0.1:0
  tokens:
    - {name: soak, file: token, principal: "local:tester", agent: tester, servers: [notes, far]}
`, self, childArg, notesFile, start, farURL)
	}
	g.write("verbatim.yaml", g.settings(30))
	if first != nil {
		g.copyKeys(first)
	}
	g.start()
	t.Cleanup(g.end)
	return g
}

func (g *gateway) write(name, text string) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.home, name), []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

func (g *gateway) copyKeys(from *gateway) {
	g.t.Helper()
	keys := filepath.Join(g.home, "keys")
	err := os.CopyFS(keys, os.DirFS(filepath.Join(from.home, "keys")))
	if err == nil {
		err = filepath.WalkDir(keys, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				return os.Chmod(path, 0o700)
			}
			if err == nil {
				return os.Chmod(path, 0o600)
			}
			return err
		})
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

// catalogText: add is an ordinary mutation, the rest reads.
func catalogText(t *testing.T) string {
	t.Helper()
	out := "version: \"1\"\ntools:\n"
	for _, x := range []struct{ name, tools, is string }{
		{"notes", notesTools, ""}, {"far", farTools, ""},
	} {
		list, err := wire.ToolDefinitions([]byte(`{"tools":[` + x.tools + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			raw, err := json.Marshal(string(tool.Raw))
			if err != nil {
				t.Fatal(err)
			}
			is := "mutation: false"
			if tool.Name == "add" {
				is = "impact: ordinary"
			}
			out += fmt.Sprintf("  %s.%s: {%s, reason: test, timeout: 5s, definition: {sha256: %q, raw: %s}}\n", x.name, tool.Name, is, tool.Digest.String(), raw)
		}
	}
	return out
}

// start starts the process and waits for its endpoint.
func (g *gateway) start() {
	cmd := exec.Command(binary, "serve")
	cmd.Env = append(os.Environ(), "VERBATIM_HOME="+g.home)
	log, err := os.OpenFile(filepath.Join(g.home, "serve.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		g.t.Error(err)
		return
	}
	defer log.Close()
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		g.t.Error(err)
		return
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if url, found := strings.CutPrefix(lines.Text(), "endpoint: "); found {
			g.mu.Lock()
			g.cmd, g.url = cmd, url
			g.mu.Unlock()
			return
		}
	}
	text, _ := os.ReadFile(filepath.Join(g.home, "serve.log")) // it says why
	g.t.Errorf("a gateway does not start: %s", text[max(0, len(text)-2000):])
	_ = cmd.Wait()
}

func (g *gateway) at() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.url
}

func (g *gateway) process() *exec.Cmd {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cmd
}

// change replaces the configuration and tells the process to read it: the
// entry of a server is another one, so that it is started anew.
func (g *gateway) change() {
	g.changed++
	g.write("verbatim.yaml.new", g.settings(30+g.changed%2))
	if err := os.Rename(filepath.Join(g.home, "verbatim.yaml.new"), filepath.Join(g.home, "verbatim.yaml")); err != nil {
		g.t.Error(err)
	}
	_ = g.process().Process.Signal(syscall.SIGHUP) // it runs: nobody else ends it
}

// kill ends the process as a crash would, and starts it again.
func (g *gateway) kill() {
	cmd := g.process()
	_ = cmd.Process.Kill() // it runs: nobody else ends it
	_ = cmd.Wait()
	g.start()
}

// end tells the process to end, and waits for that.
func (g *gateway) end() {
	cmd := g.process()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(os.Interrupt) // it runs: nobody else ends it
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		g.t.Error("a gateway does not end")
		_ = cmd.Process.Kill()
		<-ended
	}
}

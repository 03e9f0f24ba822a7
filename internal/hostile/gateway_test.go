package hostile_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// The canaries: secrets that only one side may see.
const (
	canaryClient   = "canary-of-a-client-0123456789"   // the client's token
	canaryUpstream = "canary-of-an-upstream-987654321" // the gateway's own, for servers
	canaryDaemon   = "canary-of-the-daemon-5551234567" // in the daemon's environment
	canaryHeader   = "canary-of-a-header-77777777777"  // what a client sends in other headers
)

// gateway is a verbatim serve process with every hostile server behind it.
type gateway struct {
	t     *testing.T
	home  string
	dir   string
	url   string
	log   string
	cmd   *exec.Cmd
	stage *stage
	env   []string
}

// newGateway starts the daemon with these servers.
func newGateway(t *testing.T, all map[string]*script) *gateway {
	t.Helper()
	g := &gateway{t: t, dir: t.TempDir(), stage: newStage(t, all)}
	g.home, g.log = filepath.Join(g.dir, "home"), filepath.Join(g.dir, "serve.log")
	g.env = append(os.Environ(), "VERBATIM_HOME="+g.home, "DAEMON_SECRET="+canaryDaemon, "UPSTREAM_SECRET="+canaryUpstream)
	web := httptest.NewServer(g.stage)
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	g.write("home/catalog.yaml", g.catalog())
	g.write("home/verbatim.yaml", g.config(web.URL))
	for name := range all {
		g.write("home/"+name+".token", tokenOf(name)+"\n")
	}
	g.start()
	return g
}

func tokenOf(name string) string { return canaryClient + "-" + name }

func (g *gateway) write(name, text string) {
	g.t.Helper()
	path := filepath.Join(g.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *gateway) names() []string { return slices.Sorted(maps.Keys(g.stage.all)) }

// catalog calls look of each server a read, pinned to its honest definition.
func (g *gateway) catalog() string {
	list, err := wire.ToolDefinitions([]byte(`{"tools":[` + definition + `]}`))
	if err != nil {
		g.t.Fatal(err)
	}
	raw, err := json.Marshal(definition)
	if err != nil {
		g.t.Fatal(err)
	}
	out := "version: \"1\"\ntools:\n"
	for _, name := range g.names() {
		limit := "2s" // for what never answers
		if len(g.stage.all[name].says) == len(fine) {
			limit = "60s"
		}
		out += fmt.Sprintf("  %s.look:\n    mutation: false\n    reason: reviewed\n    timeout: "+limit+"\n    definition: {sha256: \"%s\", raw: %s}\n", name, list.Tools[0].Digest.String(), raw)
	}
	return out
}

// config puts each server behind the endpoint, and before each a token for
// which no other exists.
func (g *gateway) config(web string) string {
	self, err := os.Executable()
	if err != nil {
		g.t.Fatal(err)
	}
	servers, tokens := "", ""
	for _, name := range g.names() {
		start := "30s"
		if g.stage.all[name].slow { // it never greets, or never lists
			start = "3s"
		}
		if g.stage.all[name].http {
			servers += fmt.Sprintf("  %s: {url: %q, credential: {env: UPSTREAM_SECRET}, start: %s}\n", name, web+"/"+name, start)
		} else {
			servers += fmt.Sprintf("  %s: {command: %q, args: [%s, %s, %q], start: %s}\n", name, self, childArg, name, g.stage.witness(name), start)
		}
		tokens += fmt.Sprintf("    - {name: %s, file: %s.token, principal: \"local:tester\", agent: tester, servers: [%s]}\n", name, name, name)
	}
	return "listen: 127.0.0.1:0\nwait: 100ms\nservers:\n" + servers + "endpoint:\n  listen: 127.0.0.1:0\n  tokens:\n" + tokens
}

func (g *gateway) start() {
	g.t.Helper()
	g.cmd = exec.Command(binary, "serve", "--config", filepath.Join(g.home, "verbatim.yaml"))
	g.cmd.Env = g.env
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	log, err := os.Create(g.log)
	if err != nil {
		g.t.Fatal(err)
	}
	g.cmd.Stderr = log
	if err := g.cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { g.stop(); log.Close() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if url, found := strings.CutPrefix(lines.Text(), "endpoint: "); found {
			g.url = url
			return
		}
	}
	g.t.Fatalf("serve did not say its endpoint: %s", g.logged())
}

// stop ends the daemon as an operator does; one that does not end is a hang.
func (g *gateway) stop() {
	_ = g.cmd.Process.Signal(os.Interrupt) // it may have ended
	ended := make(chan error, 1)
	go func() { ended <- g.cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(40 * time.Second):
		g.t.Error("the daemon does not end")
		_ = g.cmd.Process.Kill()
		<-ended
	}
}

func (g *gateway) logged() string {
	text, err := os.ReadFile(g.log)
	if err != nil {
		g.t.Fatal(err)
	}
	return string(text)
}

// status reads a line of /proc/PID/status in KiB; ok is false where there is
// no such file.
func (g *gateway) status(field string) (kib int, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.cmd.Process.Pid))
	if err != nil {
		return 0, false
	}
	_, rest, found := strings.Cut(string(text), field+":")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kib, err = strconv.Atoi(number)
	return kib, found && err == nil
}

// open counts the daemon's open files.
func (g *gateway) open() (int, bool) {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", g.cmd.Process.Pid))
	return len(list), err == nil
}

var _ http.Handler = (*stage)(nil)

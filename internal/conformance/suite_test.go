//go:build conformance

package conformance_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func itoa(n int) string { return strconv.Itoa(n) }

const tools = "../../testdata/npm-conformance/node_modules"

// built builds a program of the Go SDK.
func built(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", "build", "-o", path, "github.com/modelcontextprotocol/go-sdk/conformance/"+name)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, text)
	}
	return path
}

// everythingServer starts the Go SDK's server for the suite.
func everythingServer(t *testing.T, stateless bool) string {
	t.Helper()
	l := listen(t)
	at := l.Addr().String()
	l.Close()
	cmd := exec.Command(built(t, "everything-server"), "-http="+at, "-stateless="+strconv.FormatBool(stateless))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for range 500 {
		if c, err := net.Dial("tcp", at); err == nil {
			c.Close()
			_, port, _ := net.SplitHostPort(at)
			return "http://localhost:" + port + "/mcp"
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the server does not listen")
	return ""
}

// suite runs the conformance runner and returns what it printed.
func suite(t *testing.T, args ...string) (text string, passed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	bin, err := filepath.Abs(tools)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, ".bin", "node"),
		append([]string{filepath.Join(bin, "@modelcontextprotocol", "conformance", "dist", "index.js")}, append(args, "--output-dir", results(t))...)...)
	cmd.Dir, cmd.WaitDelay = t.TempDir(), time.Second
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(bin, ".bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// results is where the runner keeps the checks of each scenario.
func results(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "verbatim-conformance", filepath.FromSlash(t.Name()), strconv.FormatInt(time.Now().UnixNano(), 36))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

var (
	score = regexp.MustCompile(`(?m)^[✓✗] ([a-z0-9-]+(?:/[a-z0-9-]+)?): (\d+) passed, (\d+) failed`)
	total = regexp.MustCompile(`(?m)^Total: .*`)
)

// scores are the scenarios with what they scored.
func scores(t *testing.T, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, m := range score.FindAllStringSubmatch(text, -1) {
		out[m[1]] = m[2] + " passed, " + m[3] + " failed"
	}
	if len(out) < 10 {
		t.Fatalf("the suite printed no scores:\n%s", text)
	}
	return out
}

// chosen are the scenarios that count fewer checks through the gateway, none of
// them failed, because of what it does on purpose.
var chosen = map[string]string{
	"server-sse-multiple-streams": "an answer with nothing before it is a document, not a stream of one event",
	"server-sse-polling":          "the gateway itself takes up a stream that a server breaks off; its own have no ids",
}

// extension are the scenarios of the tasks extension: neither scored nor
// passed by the server, and some of its checks pass where a gateway refuses.
func extension(name string) bool { return strings.HasPrefix(name, "tasks-") }

// compared leaves out what is chosen, where nothing failed, and extensions.
func compared(scores map[string]string) map[string]string {
	out := map[string]string{}
	for name, got := range scores {
		if extension(name) || chosen[name] != "" && strings.HasSuffix(got, " 0 failed") {
			continue
		}
		out[name] = got
	}
	return out
}

func TestTheGatewayScoresWhatItsServerScores(t *testing.T) {
	for _, tt := range []struct {
		revision  string
		stateless bool
	}{{"2026-07-28", true}, {"2025-11-25", false}} {
		t.Run(tt.revision, func(t *testing.T) {
			server := everythingServer(t, tt.stateless)
			alone, ok := suite(t, "server", "--url", server, "--requirements", tt.revision)
			if !ok {
				t.Fatalf("the server alone does not pass:\n%s", alone)
			}
			before, ok := suite(t, "server", "--url", gatewayBefore(t, server, nil), "--requirements", tt.revision)
			t.Logf("alone: %s; through the gateway: %s; each check is below "+os.TempDir()+"/verbatim-conformance", total.FindString(alone), total.FindString(before))
			diff := cmp.Diff(compared(scores(t, alone)), compared(scores(t, before)))
			if !ok || diff != "" {
				t.Errorf("scores (-alone +through the gateway):\n%s", diff)
			}
		})
	}
}

// The suite must see a gateway that loses headers.
func TestAGatewayWithoutHeadersFails(t *testing.T) {
	server := everythingServer(t, true)
	text, ok := suite(t, "server", "--url", gatewayBefore(t, server, withoutNames), "--requirements", "2026-07-28")
	t.Log(total.FindString(text))
	if ok {
		t.Error("the suite does not see that headers are lost")
	}
}

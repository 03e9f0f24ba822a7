package hub_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// asServer makes this test binary an MCP server that notes its process id.
const asServer = "VERBATIM_TEST_SERVER"

func TestMain(m *testing.M) {
	if path := os.Getenv(asServer); path != "" {
		if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			os.Exit(1)
		}
		(&scripted{tools: []string{"look"}}).serve(wire.NewReader(os.Stdin, wire.Limits{}), wire.NewWriter(os.Stdout))
		return
	}
	os.Exit(m.Run())
}

// descriptors counts the open pipes; the store's files come and go.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, fd := range list {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "pipe:") {
			n++
		}
	}
	return n
}

// zombies counts the children of this process that nobody has collected.
func zombies(t *testing.T) int {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it ended while it was read
		}
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		if len(fields) > 1 && fields[0] == "Z" && fields[1] == strconv.Itoa(os.Getpid()) {
			n++
		}
	}
	return n
}

// A server that is killed again and again leaves no process, goroutine or
// descriptor behind, and its tools come back each time.
func TestManyCrashesLeaveNothingBehind(t *testing.T) {
	times := 50
	if testing.Short() {
		times = 10
	}
	note := filepath.Join(t.TempDir(), "pid")
	dial := hub.Child(gate.Command{Path: os.Args[0], Env: []string{asServer + "=" + note}, Dir: t.TempDir()}, io.Discard, slog.New(slog.DiscardHandler))
	h, f := newHubPausing(t, hub.Server{Name: "mortal", Dial: dial}, 10*time.Millisecond)
	session := h.Legacy(hub.Caller{Session: f.Session()})
	lists := func() bool {
		return strings.Contains(string(ask(t, session, "tools/list", "{}").Result()), `"look"`)
	}
	eventually := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it never happened that %s", what)
			}
		}
	}
	eventually("the server lists its tools", lists)
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	for range times {
		text, err := os.ReadFile(note)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually("another one lists its tools", func() bool {
			ok := lists() // a server is started when it is needed
			text, err := os.ReadFile(note)
			return ok && err == nil && string(text) != strconv.Itoa(pid) && len(text) > 0
		})
	}
	left := func() string {
		return fmt.Sprintf("%d zombies, %d goroutines of %d, %d descriptors of %d", zombies(t), runtime.NumGoroutine(), goroutines, descriptors(t), files)
	}
	for end := time.Now().Add(20 * time.Second); zombies(t) > 0 || runtime.NumGoroutine() > goroutines+3 || descriptors(t) > files+2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("left behind: %s\n%s", left(), stacks[:runtime.Stack(stacks, true)])
		}
	}
	h.Close(context.Background())
}

package daemon_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func TestDrainingDaemonStaysForItsClientsAndNoLonger(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	a, err := r.client.Attach(context.Background(), daemon.Hello{Command: "x"})
	if err != nil {
		t.Fatal(err)
	}
	state, err := r.client.Drain(context.Background())
	if err != nil || !state.Draining || state.Attached != 1 {
		t.Fatalf("%+v, %v", state, err)
	}
	if _, err := io.WriteString(a, "still here\n"); err != nil {
		t.Error(err)
	}
	if line, err := bufio.NewReader(a).ReadString('\n'); line != "still here\n" {
		t.Errorf("%q, %v", line, err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, err := os.Stat(r.home.State()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("daemon.json is still there: %v", err)
	}
	if _, err := daemon.Connect(context.Background(), r.home); !errors.Is(err, daemon.ErrNoDaemon) {
		t.Errorf("connect: %v", err)
	}
}

var (
	older = daemon.Build{Version: "v1.0.0"}
	newer = daemon.Build{Version: "v1.1.0"}
)

func TestNewerProgramReplacesAnOlderDaemonThatServesNobody(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *daemon.Config) { c.Build = older })
	for _, same := range []daemon.Build{older, {Version: "v0.9.0"}, {Version: "unknown"}} {
		c, err := daemon.Starter{Home: r.home, Build: same, Command: "false"}.Client(context.Background())
		if err != nil || c.State.Build != older {
			t.Fatalf("%s: %v, want the daemon that runs", same.Version, err)
		}
	}
	// What would be the newer daemon fails at once, so that this test sees
	// that it was started and that the older one has made way.
	_, err := daemon.Starter{Home: r.home, Build: newer, Command: "false"}.Client(context.Background())
	if err == nil || !strings.Contains(err.Error(), "the daemon ended") {
		t.Errorf("error %v, want that of the program that was started", err)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("the older daemon ended with %v", err)
	}
}

func TestNewerProgramUsesAnOlderDaemonThatHasClients(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *daemon.Config) { c.Build = older })
	a, err := r.client.Attach(context.Background(), daemon.Hello{Command: "x"})
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	c, err := daemon.Starter{Home: r.home, Build: newer, Command: "false", Say: func(text string) { said = text }}.Client(context.Background())
	if err != nil || c.State.Build != older || !strings.Contains(said, "v1.0.0) still has clients (1)") {
		t.Fatalf("%v; said %q", err, said)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("the older daemon ended with %v", err)
	}
}

func TestDaemonThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	home := config.Home(t.TempDir())
	_, err := daemon.Starter{Home: home, Command: "sh", Args: []string{"-c", "echo the disk is full >&2; exit 1"}}.Client(context.Background())
	if err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("error %v, want what the program wrote", err)
	}
	_, err = daemon.Starter{Home: home, Command: "false", Check: func() error { return errors.New("a mistake in line 3") }}.Client(context.Background())
	if err == nil || err.Error() != "a mistake in line 3" {
		t.Errorf("error %v, want that of the check", err)
	}
}

func TestIdleDaemonEndsUnlessSomethingWaits(t *testing.T) {
	t.Parallel()
	idle := start(t, func(c *daemon.Config) { c.Idle = time.Millisecond })
	if err := <-idle.ended; err != nil {
		t.Errorf("the idle one: %v", err)
	}
	busy := start(t, func(c *daemon.Config) { c.Idle = time.Second })
	busy.pending(`{"amount":1,"to":"x"}`)
	select {
	case <-busy.ended:
		t.Error("it ended though a proposal waits")
	case <-time.After(3 * time.Second):
	}
}

func TestTakenPageAddressIsReplacedByAFreeOne(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	r := start(t, func(c *daemon.Config) { c.Listen = taken.Addr().String() })
	if strings.HasSuffix(r.client.State.Page, taken.Addr().String()) {
		t.Fatalf("page %s", r.client.State.Page)
	}
	resp, err := http.Get(r.client.State.Page)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "the page" {
		t.Errorf("%q, %v", body, err)
	}
}

func TestHomeWithALongPathHasItsSocketElsewhere(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *daemon.Config) {
		dir := filepath.Join(t.TempDir(), strings.Repeat("long", daemon.MaxSocketPath/4))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		c.Home = config.Home(dir)
	})
	socket := r.client.State.Socket
	if len(socket) > daemon.MaxSocketPath {
		t.Errorf("socket %s", socket)
	}
	info, err := os.Stat(filepath.Dir(socket))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its directory: %v, %v", info, err)
	}
	if err := r.client.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	<-r.ended
	if _, err := os.Stat(filepath.Dir(socket)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is left behind: %v", err)
	}
}

func TestSocketIsTheUsersOnly(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	info, err := os.Stat(r.client.State.Socket)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestDaemonWhoseHomeIsGoneEnds(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *daemon.Config) {
		c.Home = config.Home(filepath.Join(t.TempDir(), "home"))
		if err := os.Mkdir(string(c.Home), 0o700); err != nil {
			t.Fatal(err)
		}
	})
	if err := os.RemoveAll(string(r.home)); err != nil {
		t.Fatal(err)
	}
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
}

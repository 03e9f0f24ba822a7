package auditbench_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/internal/needs"
)

// onDisk is a log as audit export writes it, with what a checker needs
// beside it.
type onDisk struct{ dir, checkpoint, keys string }

func written(t testing.TB, m *made) onDisk {
	t.Helper()
	home := t.TempDir()
	d := onDisk{filepath.Join(home, "log"), filepath.Join(home, "checkpoint.txt"), filepath.Join(home, "keys.txt")}
	put := func(path string, content []byte) error {
		path = filepath.Join(d.dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return os.WriteFile(path, content, 0o600)
	}
	_, err := audit.Export(t.Context(), m, put)
	if err == nil {
		err = os.WriteFile(d.checkpoint, m.signed, 0o600)
	}
	if err == nil {
		err = os.WriteFile(d.keys, []byte(publicKey(t)+"\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// node is the independent checker, over a log on the disk.
func node(t testing.TB, d onDisk) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), needs.Peer(t, "node"), filepath.Join("..", "..", "examples", "verifier", "verify.mjs"),
		"--key", d.keys, "--checkpoint", d.checkpoint, d.dir)
}

// completeTo runs a checker and returns up to which record it calls the log
// complete, and the most memory that it had, in KiB, as far as was seen.
func completeTo(t testing.TB, c *exec.Cmd) (records int64, peak int) {
	t.Helper()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stop, seen := make(chan struct{}), make(chan int)
	go func() { seen <- watch(c.Process.Pid, stop) }()
	err := c.Wait()
	close(stop)
	if peak = <-seen; err != nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	var said struct {
		CompleteTo int64 `json:"completeTo"`
	}
	if err := json.Unmarshal(out.Bytes(), &said); err != nil {
		t.Fatal(err)
	}
	return said.CompleteTo, peak
}

// watch looks at what the kernel says of a process, now and then. Its count
// for a child that has ended begins with what the parent had.
func watch(pid int, stop <-chan struct{}) (peak int) {
	for {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
			if _, rest, ok := strings.Cut(string(text), "VmHWM:"); ok {
				if n, err := strconv.Atoi(strings.Fields(rest)[0]); err == nil {
					peak = n
				}
			}
		}
		select {
		case <-stop:
			return peak
		case <-time.After(50 * time.Millisecond):
		}
	}
}

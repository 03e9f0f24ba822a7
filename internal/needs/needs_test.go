package needs_test

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/internal/needs"
)

// recorder stands in for a test and notes how it ended. Fatalf and Skipf
// leave the goroutine, as those of testing do.
type recorder struct {
	testing.TB
	failed, skipped bool
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(string, ...any) {
	r.failed = true
	runtime.Goexit()
}

func (r *recorder) Skipf(string, ...any) {
	r.skipped = true
	runtime.Goexit()
}

func TestMissingProgramSkipsUnlessToolsAreRequired(t *testing.T) {
	for _, tt := range []struct {
		name, setting   string
		failed, skipped bool
	}{
		{name: "by default it skips", setting: "", skipped: true},
		{name: "required makes it fail", setting: "required", failed: true},
		{name: "another value is not a promise", setting: "optional", skipped: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(needs.Variable, tt.setting)
			got := &recorder{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				needs.Peer(got, "no-such-program")
			}()
			<-done
			if got.failed != tt.failed || got.skipped != tt.skipped {
				t.Errorf("failed %v, skipped %v; want %v, %v", got.failed, got.skipped, tt.failed, tt.skipped)
			}
		})
	}
}

func TestPeersRunUnderThePinnedNode(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(needs.Peer(t, "node"), "--version")
	cmd.Env = needs.Env(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(out), "v24.") {
		t.Errorf("node is %s, want v24", bytes.TrimSpace(out))
	}
}

func TestEnvHasOnePathThatBeginsWithThePinnedPrograms(t *testing.T) {
	t.Parallel()
	var paths []string
	for _, pair := range needs.Env(t) {
		if strings.HasPrefix(pair, "PATH=") {
			paths = append(paths, pair)
		}
	}
	if len(paths) != 1 {
		t.Fatalf("%d PATH entries, want 1", len(paths))
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(paths[0], "PATH="), string(os.PathListSeparator))
	if !strings.HasSuffix(first, ".bin") || rest != os.Getenv("PATH") {
		t.Errorf("PATH is %s, want the pinned programs and then the old PATH", paths[0])
	}
}

package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func TestOnlyACertainlyNewerBuildIsNewer(t *testing.T) {
	t.Parallel()
	const early, late = "2030-01-01T00:00:00Z", "2030-06-01T00:00:00Z"
	tests := []struct {
		name       string
		mine, its  daemon.Build
		want, back bool
	}{
		{"releases", daemon.Build{Version: "v1.2.0"}, daemon.Build{Version: "v1.1.9"}, true, false},
		{"a release and its candidate", daemon.Build{Version: "v1.2.0"}, daemon.Build{Version: "v1.2.0-rc.1"}, true, false},
		{"two digits", daemon.Build{Version: "v1.10.0"}, daemon.Build{Version: "v1.9.0"}, true, false},
		{"the same release", daemon.Build{Version: "v1.2.0", Time: late}, daemon.Build{Version: "v1.2.0", Time: early}, false, false},
		{"checkouts by commit time", daemon.Build{Version: "(devel)", Time: late}, daemon.Build{Version: "(devel)", Time: early}, true, false},
		{"made-up versions by commit time", daemon.Build{Version: "v0.0.0-20300601000000-0123456789ab", Time: late},
			daemon.Build{Version: "v0.0.0-20300101000000-ba9876543210", Time: early}, true, false},
		{"a changed checkout is no release", daemon.Build{Version: "v1.2.0+dirty"}, daemon.Build{Version: "v1.1.0"}, false, false},
		{"nothing known", daemon.Build{Version: "(devel)"}, daemon.Build{Version: "(devel)"}, false, false},
		{"only one known", daemon.Build{Version: "v1.0.0"}, daemon.Build{Version: "unknown"}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.mine.Newer(tt.its); got != tt.want {
				t.Errorf("newer: %v, want %v", got, tt.want)
			}
			if got := tt.its.Newer(tt.mine); got != tt.back {
				t.Errorf("the other way round: %v, want %v", got, tt.back)
			}
		})
	}
}

func TestStateOfAnotherVersionIsRead(t *testing.T) {
	t.Parallel()
	got, err := daemon.ParseState([]byte(`{"pid":7,"build":{"version":"v9.0.0","extra":1},"page":"http://127.0.0.1:1","socket":"/s","attached":2,"pending":3,"draining":true,"later":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := daemon.State{PID: 7, Build: daemon.Build{Version: "v9.0.0"}, Page: "http://127.0.0.1:1", Socket: "/s", Attached: 2, Pending: 3, Draining: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, text := range []string{"", "{", `{"pid":1,"pid":2}`} {
		if _, err := daemon.ParseState([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestLockIsGivenToOne(t *testing.T) {
	t.Parallel()
	home := config.Home(t.TempDir())
	first, err := daemon.TakeLock(home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := daemon.TakeLock(home); !errors.Is(err, daemon.ErrRunning) {
		t.Errorf("a second lock: %v", err)
	}
	if err := first.Free(); err != nil {
		t.Fatal(err)
	}
	again, err := daemon.TakeLock(home)
	if err != nil {
		t.Fatalf("after it was freed: %v", err)
	}
	if err := again.Free(); err != nil {
		t.Error(err)
	}
}

func TestNotesKeepTheLatestAndNeverBlock(t *testing.T) {
	t.Parallel()
	n := daemon.NewNotes()
	for range 3 * daemon.MaxNotes / 100 {
		if _, err := n.Write([]byte(strings.Repeat("x", 100))); err != nil {
			t.Fatal(err)
		}
	}
	n.Say("the %s words", "last")
	n.Close()
	var out bytes.Buffer
	if err := daemon.CopyTo(n, context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	if out.Len() != daemon.MaxNotes || !strings.HasSuffix(out.String(), "verbatim: the last words\n") {
		t.Errorf("%d bytes, ending in %q", out.Len(), out.String()[out.Len()-30:])
	}
	if _, err := n.Write([]byte("after the end")); err != nil {
		t.Error(err)
	}
}

func TestNotesComeWhileTheyAreWritten(t *testing.T) {
	t.Parallel()
	n := daemon.NewNotes()
	lines := make(chan string)
	done := make(chan error, 1)
	go func() { done <- daemon.CopyTo(n, context.Background(), writer(func(p []byte) { lines <- string(p) })) }()
	for _, want := range []string{"one\n", "two\n"} {
		if _, err := n.Write([]byte(want)); err != nil {
			t.Fatal(err)
		}
		if got := <-lines; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	n.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := daemon.CopyTo(daemon.NewNotes(), ctx, &bytes.Buffer{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("notes without end: %v", err)
	}
}

type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

func FuzzStateIsReadOrRefused(f *testing.F) {
	f.Add([]byte(`{"pid":1,"build":{"version":"v1.0.0"},"page":"http://127.0.0.1:1","socket":"/s"}`))
	f.Add([]byte(`{"pid":1e3,"build":[],"page":{},"socket":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := daemon.ParseState(text)
		if err != nil && s != (daemon.State{}) {
			t.Errorf("refused, and yet read as %+v", s)
		}
	})
}

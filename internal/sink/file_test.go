package sink_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/events"
	"github.com/seed-de4804fb/verbatim/internal/sink"
)

func someEvents(ids ...string) (out []events.Event) {
	for i, id := range ids {
		out = append(out, events.Event{SchemaVersion: events.Schema, ID: id, Type: events.RunCompleted, Subject: events.Subject{Kind: "run", Name: "a<b>&\u2028"},
			Record: events.Record{Log: "log", Index: int64(i)}})
	}
	return out
}

// lines are the ids of the events in a file, each line checked.
func lines(t *testing.T, path string) (ids []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		t.Errorf("%s ends in the middle of a line", filepath.Base(path))
	}
	for line := range bytes.Lines(text) {
		var e events.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Errorf("line %q: %v", line, err)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

func deliver(t *testing.T, target sink.Target, ids ...string) error {
	t.Helper()
	return target.Deliver(t.Context(), someEvents(ids...))
}

func TestFileHoldsOneEventOnEachLine(t *testing.T) {
	t.Parallel()
	f := &sink.File{Path: filepath.Join(t.TempDir(), "events.jsonl")}
	for _, ids := range [][]string{{"a", "b"}, {"c"}} {
		if err := deliver(t, f, ids...); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, lines(t, f.Path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	info, err := os.Stat(f.Path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestFileThatWasRotatedBySomebodyIsMadeAnew(t *testing.T) {
	t.Parallel()
	f := &sink.File{Path: filepath.Join(t.TempDir(), "events.jsonl")}
	for i, id := range []string{"a", "b"} {
		if err := deliver(t, f, id); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(f.Path, fmt.Sprint(f.Path, i)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([][]string{{"a"}, {"b"}}, [][]string{lines(t, f.Path+"0"), lines(t, f.Path+"1")}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFileRotatesBeforeItGrowsTooLong(t *testing.T) {
	t.Parallel()
	f := &sink.File{Path: filepath.Join(t.TempDir(), "events.jsonl"), MaxBytes: 600, Keep: 2}
	for i := range 8 {
		if err := deliver(t, f, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, name := range []string{f.Path + ".2", f.Path + ".1", f.Path} {
		got = append(got, lines(t, name)...)
		if info, err := os.Stat(name); err != nil || info.Size() > 600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if want := strings.Join(got, ""); !strings.HasSuffix("01234567", want) || len(got) < 4 {
		t.Errorf("kept %v", got)
	}
	if _, err := os.Stat(f.Path + ".3"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("more is kept than was asked for: %v", err)
	}
}

func TestFullDiskLeavesNoHalfLineAndTakesNothing(t *testing.T) {
	t.Parallel()
	f := &sink.File{Path: filepath.Join(t.TempDir(), "events.jsonl")}
	if err := deliver(t, f, "a"); err != nil {
		t.Fatal(err)
	}
	f.SetWrite(func(file *os.File, text []byte) (int, error) {
		n, _ := file.Write(text[:len(text)/2])
		return n, syscall.ENOSPC
	})
	if err := deliver(t, f, "b", "c"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"a"}, lines(t, f.Path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f.SetWrite(nil)
	if err := deliver(t, f, "b", "c"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, lines(t, f.Path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLineThatACrashLeftUnfinishedGoes(t *testing.T) {
	t.Parallel()
	for name, torn := range map[string]string{"after a line": "{\"id\":\"a\"}\n{\"id\":\"b", "alone": "{\"id\":\"b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &sink.File{Path: filepath.Join(t.TempDir(), "events.jsonl")}
			if err := os.WriteFile(f.Path, []byte(torn), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := deliver(t, f, "b"); err != nil {
				t.Fatal(err)
			}
			want := []string{"a", "b"}
			if name == "alone" {
				want = want[1:]
			}
			if diff := cmp.Diff(want, lines(t, f.Path)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFileThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	if err := deliver(t, &sink.File{Path: t.TempDir()}, "a"); err == nil {
		t.Error("a directory was written to")
	}
	if err := deliver(t, &sink.File{Path: filepath.Join(t.TempDir(), "no", "where")}, "a"); err == nil {
		t.Error("a place that there is not was written to")
	}
}

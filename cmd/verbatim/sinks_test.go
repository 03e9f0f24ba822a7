package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/events"
)

// eventTypes are the types in a file of JSON lines.
func eventTypes(t *testing.T, path string) (types []string, last events.Event) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		last = events.Event{}
		if err := json.Unmarshal(line, &last); err != nil {
			t.Fatal(err)
		}
		types = append(types, last.Type)
	}
	return types, last
}

func (p *place) until(what string, ok func() bool) {
	p.t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("in vain: %s", what)
		}
	}
}

func TestDaemonHandsEventsToFileAndWebhook(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	away.Store(true)
	var mu sync.Mutex
	posted := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if away.Load() || err != nil || r.Header.Get("Signature") == "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		posted += strings.Count(string(body), `"specversion":"1.0"`)
	}))
	t.Cleanup(web.Close)
	p := newPlace(t, "100ms")
	p.env = append(p.env, "HOOK=a secret of a webhook, long enough")
	p.serve("  notes: {command: notes-mcp, env: {NOTES: " + p.notes + "}}\nmetrics: {listen: \"127.0.0.1:0\"}\nsinks:\n" +
		"    lines: {file: events.jsonl, runs: true}\n    hook: {webhook: {url: " + web.URL + ", secret: {env: HOOK}, networks: [\"127.0.0.0/8\"]}}\n")
	p.setup()
	file := filepath.Join(filepath.Dir(string(p.home)), "events.jsonl")
	p.until("the account's event", func() bool { types, _ := eventTypes(t, file); return len(types) == 1 })

	s := served{place: p, url: p.daemon().State.Endpoint + "/mcp"}
	c := agent{ClientSession: s.client("2026-07-28")}
	asked := p.call(c, "add", `{"text":"canary-9e"}`, "")
	p.approve(asked.Action)
	if got := p.call(c, "add", `{"text":"canary-9e"}`, asked.Action); got.Code != "" {
		t.Fatalf("%+v", got)
	}
	p.until("the last event", func() bool { _, last := eventTypes(t, file); return last.Type == events.RunCompleted })
	types, last := eventTypes(t, file)
	var calls []string
	for _, typ := range types {
		if !strings.HasPrefix(typ, events.Admin) {
			calls = append(calls, typ)
		}
	}
	want := []string{events.PolicyChanged, events.ApprovalRequired, events.RunAbandoned, events.ApprovalVoted, events.ApprovalGranted, events.RunClaimed, events.RunStarted, events.RunCompleted}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if last.Run == nil || last.Run.RunID != asked.Action || last.Run.Status != "completed" || len(last.Run.Votes) != 1 {
		t.Errorf("run record %+v", last.Run)
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "canary") {
		t.Errorf("a value left, %v:\n%s", err, text)
	}

	if page := p.metrics(); !strings.Contains(page, `verbatim_sink_lag_records{sink="lines"} 0`) || strings.Contains(page, `verbatim_sink_lag_records{sink="hook"} 0`) {
		t.Errorf("lag in the metrics:\n%s", page)
	}
	out, err := p.command("status").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "does not take events; they wait") {
		t.Errorf("status, %v:\n%s", err, out)
	}
	away.Store(false)
	p.until("the webhook has all", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return posted == len(types)
	})
}

func TestNextDaemonGoesOnWithTheEventsAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "100ms")
	settings := "  notes: {command: notes-mcp, env: {NOTES: " + p.notes + "}}\nsinks:\n    lines: {file: events.jsonl}\n"
	file := filepath.Join(filepath.Dir(string(p.home)), "events.jsonl")
	first := p.serve(settings)
	p.setup()
	p.until("the first daemon's event", func() bool { types, _ := eventTypes(t, file); return len(types) == 1 })
	p.kill()             // it had no time to give its place up
	_ = first.cmd.Wait() // it was killed
	second := p.serve(settings)
	p.call(agent{ClientSession: second.client("2026-07-28")}, "add", `{"text":"x"}`, "")
	p.until("the second daemon's events", func() bool { _, last := eventTypes(t, file); return last.Type == events.RunAbandoned })
}

package gate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

const writeCall = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"write","arguments":{"path":"a"}}}`

func (w *world) becomes(id string, state action.State) {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if a, err := w.Gate.Action(context.Background(), "acme", id); err == nil && a.State == state {
			return
		}
	}
	w.t.Fatalf("the action never became %s", state)
}

func TestDefinitionChangedWhileACallWaitsVoidsItsApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Minute)
	w.write(writeCall)
	a := w.pending()
	w.server.mu.Lock()
	w.server.list = strings.Replace(listed, `"name":"write",`, `"name":"write","description":"now it deletes",`, 1)
	w.server.mu.Unlock()
	changed, err := wire.Parse([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.server.out.Write(changed); err != nil {
		t.Fatal(err)
	}
	if m := w.read(); m.Method() != "notifications/tools/list_changed" {
		t.Fatalf("got %s", m.Bytes())
	}
	w.Approve(a.ID, "ada")
	if got := string(w.read().Result()); !strings.Contains(got, "approval_stale") || !strings.Contains(got, "toolDefinitionDigest") {
		t.Errorf("answer %s", got)
	}
	if n := len(w.server.received("tools/call")); n != 0 {
		t.Errorf("the changed tool was called %d times", n)
	}
}

func TestMalformedAnswerOfAWriteIsUncertain(t *testing.T) {
	t.Parallel()
	for _, result := range []string{`5`, `[]`, `null`, `{"content":[],"isError":"true"}`, `{"content":[],"isError":1}`, `{"content":[],"isError":null}`} {
		w := newWorld(t, time.Minute)
		w.server.call = func(*wire.Message) string { return result }
		w.write(writeCall)
		a := w.pending()
		w.Approve(a.ID, "ada")
		if got := string(w.read().Result()); !strings.Contains(got, string(verbatim.CodeOutcomeUncertain)) {
			t.Errorf("%s: answer %s", result, got)
		}
		w.becomes(a.ID, action.Uncertain)
	}
}

// hasty gives every tool next to no time.
type hasty struct{ binder }

func (b hasty) Bind(server string, t wire.Tool) (*catalog.Tool, verbatim.Code) {
	tool, refused := b.binder.Bind(server, t)
	if tool != nil {
		quick := *tool
		quick.Timeout = 50 * time.Millisecond
		tool = &quick
	}
	return tool, refused
}

func TestLateAnswerOfAServerSettlesWhatWasUncertain(t *testing.T) {
	t.Parallel()
	w := boundWorld(t, time.Minute, hasty{})
	release := make(chan struct{})
	w.server.call = func(*wire.Message) string {
		<-release
		return `{"content":[]}`
	}
	w.write(writeCall)
	a := w.pending()
	w.Approve(a.ID, "ada")
	if got := string(w.read().Result()); !strings.Contains(got, string(verbatim.CodeOutcomeUncertain)) {
		t.Fatalf("answer %s", got)
	}
	w.becomes(a.ID, action.Uncertain)
	close(release)
	w.becomes(a.ID, action.ReconciledSucceeded)
}

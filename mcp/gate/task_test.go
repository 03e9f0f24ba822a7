package gate_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

const taskMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

const aTask = `{"resultType":"task","taskId":"t-1","status":"working","createdAt":"x","lastUpdatedAt":"x","ttlMs":null,"pollIntervalMs":1}`

// taskWorld is a server that answers calls with a task, of which it says ends
// once ended is set.
func taskWorld(t *testing.T, ends string) (*world, *atomic.Bool) {
	t.Helper()
	w := boundWorld(t, time.Second, classed{catalog.Blind})
	ended := &atomic.Bool{}
	w.server.mu.Lock()
	w.server.list = tendList
	w.server.mu.Unlock()
	w.server.answer(func(*wire.Message) string { return aTask })
	w.server.mu.Lock()
	w.server.dynamic = func(m *wire.Message) string {
		if m.Method() != "tasks/get" {
			return ""
		}
		if ended.Load() {
			return ends
		}
		return aTask
	}
	w.server.mu.Unlock()
	return w, ended
}

func taskCall(tool string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{},` + taskMeta + `}}`
}

func (w *world) only() action.Action {
	w.t.Helper()
	rows, err := w.Gate.Actions(w.t.Context(), action.Filter{Tool: "files.write"})
	if err != nil || len(rows) != 1 {
		w.t.Fatalf("%d actions, %v", len(rows), err)
	}
	return rows[0]
}

// A mutation that is a task is what the server says at its end; until then it
// is running, and its client has the task.
func TestMutationAsATaskEndsWithIt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ends string
		want action.State
	}{
		"completed":     {`{"resultType":"complete","taskId":"t-1","status":"completed","result":{"content":[]}}`, action.Succeeded},
		"with an error": {`{"resultType":"complete","taskId":"t-1","status":"completed","result":{"content":[],"isError":true}}`, action.Uncertain},
		"cancelled":     {`{"resultType":"complete","taskId":"t-1","status":"cancelled"}`, action.Uncertain},
		"malformed":     {`{"resultType":"complete","taskId":"t-1","status":"completed"}`, action.Uncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ended := taskWorld(t, tt.ends)
			if got := string(w.ask(taskCall("write")).Result()); !strings.HasPrefix(got, strings.TrimSuffix(aTask, "}")) {
				t.Fatalf("the client got %s", got)
			}
			if a := w.only(); a.State != action.Executing {
				t.Errorf("while the task works the action is %s", a.State)
			}
			ended.Store(true)
			w.settled(w.only().ID, tt.want)
			if n := len(w.server.received("tools/call")); n != 1 {
				t.Errorf("%d calls were sent", n)
			}
		})
	}
}

func TestTaskIsReachedByWhoWasGivenIt(t *testing.T) {
	t.Parallel()
	w, _ := taskWorld(t, "")
	ask := func(method, id string) *wire.Message {
		return w.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":9,"method":%q,"params":{"taskId":%q,%s}}`, method, id, taskMeta))
	}
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		if m := ask(method, "t-1"); m.Kind() != wire.KindError {
			t.Errorf("%s before anybody was given a task: %s", method, m.Bytes())
		}
	}
	if n := len(w.server.received("tasks/cancel")); n != 0 {
		t.Error("the server was asked to cancel it")
	}
	if got := string(w.ask(taskCall("look")).Result()); !strings.Contains(got, `"t-1"`) {
		t.Fatalf("the client got %s", got)
	}
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		if m := ask(method, "t-1"); m.Kind() != wire.KindResult {
			t.Errorf("%s: %s", method, m.Bytes())
		}
		if m := ask(method, "t-2"); m.Kind() != wire.KindError {
			t.Errorf("%s of another one: %s", method, m.Bytes())
		}
	}
	for _, method := range []string{"tasks/list", "tasks/result"} {
		if m := ask(method, "t-1"); member(t, m, "/error/code") != "-32601" {
			t.Errorf("%s: %s", method, m.Bytes())
		}
	}
}

// A client that does not have the extension gets no task; what became of the
// call is not known.
func TestTaskForAClientThatHasNoneIsNoAnswer(t *testing.T) {
	t.Parallel()
	w, _ := taskWorld(t, "")
	without := strings.Replace(taskCall("write"), `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, `{}`, 1)
	if got := string(w.ask(without).Result()); strings.Contains(got, "t-1") || !strings.Contains(got, "outcome_uncertain") {
		t.Errorf("the client got %s", got)
	}
}

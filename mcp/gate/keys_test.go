package gate_test

import (
	"context"
	"strings"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
	"github.com/seed-de4804fb/verbatim/policy"
)

// keyedCall is a call of write with members in _meta.
func keyedCall(path, meta string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"path":"` + path + `"},"_meta":{` + meta + `}}}`
}

func ownMeta(name, value string) string {
	return `"io.github.seed-de4804fb.verbatim/` + name + `":"` + value + `"`
}

func (w *world) calls() int { return len(w.server.received("tools/call")) }

func TestStoredResultComesBackByteForByte(t *testing.T) {
	t.Parallel()
	const odd = `{"content":[ {"type":"text","text":"\u0061\/b"} ],"n":9007199254740993,"x":1.50,"isError" : false, "z":{"b":1,"a":2}}`
	w := boundWorld(t, 0, classed{catalog.Blind})
	w.server.list = tendList
	w.server.answer(func(*wire.Message) string { return odd })
	first := w.ask(keyedCall("/a", ownMeta("idempotencyKey", "k")))
	if string(first.Result()) != odd {
		t.Fatalf("result %s", first.Result())
	}
	w.server.answer(func(*wire.Message) string { return `{"content":[]}` })
	if again := w.ask(keyedCall("/a", ownMeta("idempotencyKey", "k"))); string(again.Bytes()) != string(first.Bytes()) {
		t.Errorf("first %s\nthen  %s", first.Bytes(), again.Bytes())
	}
	if n := w.calls(); n != 1 {
		t.Errorf("the server was called %d times", n)
	}
	other := w.ask(keyedCall("/b", ownMeta("idempotencyKey", "k")))
	if text := string(other.Bytes()); !strings.Contains(text, "idempotency_mismatch") || strings.Contains(text, "9007199254740993") {
		t.Errorf("another call under the key: %s", text)
	}
}

func TestStoredRefusalComesBackByteForByte(t *testing.T) {
	t.Parallel()
	w := boundWorld(t, 0, classed{catalog.Blind}, func(c *verbatim.Config) {
		c.Policy = policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
			return policy.Decision{Effect: policy.Deny, Reason: "internal", PublicReason: "not on a Monday"}, nil
		})
	})
	w.server.list = tendList
	first := w.ask(keyedCall("/a", ownMeta("idempotencyKey", "k")))
	if !strings.Contains(string(first.Result()), "not on a Monday") {
		t.Fatalf("result %s", first.Result())
	}
	for range 2 {
		again := string(w.ask(keyedCall("/a", ownMeta("idempotencyKey", "k"))).Bytes())
		if again != string(first.Bytes()) {
			t.Errorf("first %s\nthen  %s", first.Bytes(), again)
		}
	}
	if n := w.calls(); n != 0 {
		t.Errorf("the server was called %d times", n)
	}
}

func TestCallThatWasSettledAsHappenedSaysSo(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"nothing was answered":        "",
		"an error was answered":       unclearResult,
		"no tool result was answered": `[]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := boundWorld(t, 0, classed{catalog.Blind})
			w.server.list = tendList
			w.server.answer(func(*wire.Message) string { return said })
			if said == "" {
				w.server.answer(func(*wire.Message) string { w.crash(); return "" })
			}
			meta := ownMeta("idempotencyKey", "k")
			w.ask(keyedCall("/a", meta))
			rows, err := w.Gate.Actions(t.Context(), action.Filter{States: []action.State{action.Uncertain}})
			if err != nil || len(rows) != 1 {
				t.Fatalf("%d uncertain actions, %v", len(rows), err)
			}
			if _, err := w.Gate.Reconcile(t.Context(), "acme", action.Reconciliation{ID: rows[0].ID, State: action.ReconciledSucceeded,
				By: "ada", Evidence: "it is there"}); err != nil {
				t.Fatal(err)
			}
			next := boundOn(t, w.Fixture, classed{catalog.Blind})
			next.server.list = tendList
			got := next.ask(keyedCall("/a", meta))
			text := string(got.Bytes())
			if got.Kind() != wire.KindResult || !strings.Contains(text, "took effect") || !strings.Contains(text, `"isError":false`) ||
				!strings.Contains(text, `"state":"reconciled_succeeded"`) {
				t.Errorf("it says %s", text)
			}
			if n := next.calls(); n != 0 {
				t.Errorf("the server was called %d times", n)
			}
		})
	}
}

func TestSupersedesLetsACallPassAnUncertainOne(t *testing.T) {
	t.Parallel()
	w := boundWorld(t, 0, classed{catalog.Blind})
	w.server.answer(func(*wire.Message) string { return unclearResult })
	id := w.unclear("write")
	w.server.answer(func(*wire.Message) string { return `{"content":[],"n":2}` })
	for _, meta := range []string{`"x":1`, ownMeta("supersedes", "act_other"), ownMeta("idempotencyKey", "new")} {
		if got := string(w.ask(keyedCall("/a", meta)).Bytes()); !strings.Contains(got, "outcome_uncertain") || !strings.Contains(got, id) {
			t.Errorf("with %s: %s", meta, got)
		}
	}
	if got := string(w.ask(keyedCall("/a", ownMeta("supersedes", id))).Result()); got != `{"content":[],"n":2}` {
		t.Errorf("with the id: %s", got)
	}
	if sent := w.server.received("tools/call"); len(sent) != 2 || strings.Contains(sent[1], "supersedes") {
		t.Errorf("sent %v", sent)
	}
	rows, err := w.Gate.Actions(t.Context(), action.Filter{States: []action.State{action.Succeeded}})
	if err != nil || len(rows) != 1 || rows[0].Supersedes != id {
		t.Errorf("%+v, %v", rows, err)
	}
}

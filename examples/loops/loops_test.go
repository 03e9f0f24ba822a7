package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/api"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/needs"
	"github.com/seed-de4804fb/verbatim/mcp/endpoint"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// asLoop makes this test binary the program of this folder.
const asLoop = "VERBATIM_TEST_LOOP"

func TestMain(m *testing.M) {
	if os.Getenv(asLoop) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

const token = "token-of-a-loop-canary"

// desk is a gate with tools in process behind the real API.
type desk struct {
	*verbatimtest.Fixture
	t    *testing.T
	url  string
	done chan struct{}

	mu   sync.Mutex
	runs []string // exact arguments, as the tools received them
	lost int      // answers that are cut off, from now on
}

// Call, Authorize and Explain are the gate's own.
func (d *desk) Call(ctx context.Context, c hub.Caller, call verbatim.Call) (verbatim.Outcome, error) {
	return d.Gate.Call(ctx, c.Session, call)
}

func (d *desk) Authorize(ctx context.Context, c hub.Caller, call verbatim.Call) (verbatim.Authorization, error) {
	return d.Gate.Authorize(ctx, c.Session, call)
}

func (d *desk) Tools(context.Context, hub.Caller) ([]hub.Offered, error) {
	return []hub.Offered{{Name: "up.pay", Description: "Pays.", InputSchema: []byte(`{"type":"object"}`)}}, nil
}

func (d *desk) Explain(ctx context.Context, c hub.Caller, call verbatim.Call) (verbatim.Explanation, error) {
	return d.Gate.Explain(ctx, c.Session, call)
}

func (d *desk) Done() <-chan struct{} { return d.done }

const schema = `{"type":"object","properties":{"text":{"type":"string"},"amount":{"type":"integer"}},"required":["text"]}`

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, done: make(chan struct{})}
	var tools []verbatim.Bound
	for _, spec := range []catalog.Spec{{Name: "bank.note", Schema: []byte(schema), Impact: catalog.Ordinary, Reason: "test"},
		{Name: "bank.pay", Schema: []byte(schema), Impact: catalog.Financial}, {Name: "bank.lose", Schema: []byte(schema), Impact: catalog.Ordinary, Reason: "test"}} {
		tool, err := verbatim.Untyped(spec, execute.HandlerFunc(d.run))
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, tool)
	}
	d.Fixture = verbatimtest.New(t, verbatimtest.Config{Tools: tools,
		Policy: policy.FromFunc("v", func(context.Context, policy.Input) (policy.Decision, error) {
			return policy.Decision{Effect: policy.Allow, Reason: "test"}, nil
		})})
	a, err := api.New(api.Config{Calls: d, Actions: d.Gate, Pause: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			a.Refuse(w, http.StatusUnauthorized, "a bearer token is needed")
			return
		}
		a.ServeFor(d.cut(w, r), r, endpoint.Identity{Key: "maria", Caller: hub.Caller{Session: d.Session()}})
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	d.url = server.URL
	return d
}

// cut loses the answer to a call, after the gateway has done its work.
func (d *desk) cut(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.Method != http.MethodPost || d.lost == 0 {
		return w
	}
	d.lost--
	return broken{w}
}

type broken struct{ http.ResponseWriter }

func (broken) WriteHeader(int) { panic(http.ErrAbortHandler) }

func (d *desk) run(_ context.Context, in execute.Input) (execute.Output, error) {
	text := string(in.JSON())
	d.mu.Lock()
	d.runs = append(d.runs, text)
	d.mu.Unlock()
	if strings.Contains(text, "lose") {
		return execute.Output{}, execute.ErrLost
	}
	return execute.Output{Bytes: []byte(`{"id":9007199254740993}`)}, nil
}

func (d *desk) ran() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.runs...)
}

// decide answers what waits for people until the test ends.
func (d *desk) decide(yes bool) {
	ctx := d.t.Context()
	go func() {
		for ctx.Err() == nil {
			found, err := d.Gate.Actions(ctx, action.Filter{Tenant: "acme", States: []action.State{action.PendingApproval}})
			if err == nil && len(found) > 0 {
				_, _ = d.Vote(found[0].ID, "ada", yes) // somebody may have been faster
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
}

// scripts are one conversation in both shapes: a note, a payment, something
// that gets lost.
var scripts = map[string]string{
	"openai": `[{"role":"assistant","tool_calls":[
 {"id":"call_1","type":"function","function":{"name":"bank__note","arguments":" {\"text\": \"h\u00e9\", \"amount\": 9007199254740991} "}},
 {"id":"call_2","type":"function","function":{"name":"bank__pay","arguments":"{\"text\":\"rent\",\"amount\":840000}"}}]},
{"role":"assistant","content":null,"tool_calls":[{"id":"call_3","type":"function","function":{"name":"bank__lose","arguments":"{\"text\":\"lose\"}"}},
 {"id":"call_4","type":"function","function":{"name":"bank__note","arguments":"{\"text\":5}"}}]}]`,
	"anthropic": `[{"role":"assistant","stop_reason":"tool_use","content":[{"type":"text","text":"I will."},
 {"type":"tool_use","id":"call_1","name":"bank__note","input":{"text":"h\u00e9","amount":9007199254740991}},
 {"type":"tool_use","id":"call_2","name":"bank__pay","input":{"text":"rent","amount":840000}}]},
{"role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"call_3","name":"bank__lose","input":{"text":"lose"}},
 {"type":"tool_use","id":"call_4","name":"bank__note","input":{"text":5}}]},
{"role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"Done."}]}]`,
}

// programs are the three loops.
func programs(t *testing.T) map[string][]string {
	t.Helper()
	return map[string][]string{"Go": {os.Args[0]}, "Python": {needs.Program(t, "python3"), "loop.py"}, "TypeScript": {needs.Peer(t, "node"), "loop.ts"}}
}

// start runs a loop as a process and returns the results that it gave its
// model, as status and whether they were replayed.
func (d *desk) start(program []string, shape, run string) (results []string, whole string) {
	d.t.Helper()
	script := filepath.Join(d.t.TempDir(), "script.json")
	if err := os.WriteFile(script, []byte(scripts[shape]), 0o600); err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.CommandContext(d.t.Context(), program[0], append(program[1:], shape, script)...)
	cmd.Env = append(needs.Env(d.t), asLoop+"=1", "RUN="+run, "VERBATIM_URL="+d.url, "VERBATIM_TOKEN="+token, "NO_PROXY=*")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		d.t.Fatalf("%v\n%s%s", err, out.String(), errs.String())
	}
	for line := range strings.Lines(out.String()) {
		results = append(results, read(d.t, line)...)
	}
	return results, out.String()
}

// read takes the outcomes out of one message to the model.
func read(t *testing.T, line string) (out []string) {
	t.Helper()
	m, err := canon.Decode([]byte(line), canon.Options{})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	parts := []canon.Value{m}
	if list, _ := m.Get("content"); list.Kind() == canon.Array {
		parts = list.Elements()
	}
	for _, p := range parts {
		content := at(p, "/content")
		o, err := canon.Decode([]byte(content), canon.Options{})
		if err != nil {
			t.Fatalf("%s: %v", content, err)
		}
		if inner, found := o.Get("outcome"); found { // the whole answer
			o = inner
		}
		word := at(o, "/status") + " " + at(o, "/code")
		if again, _ := o.Lookup("/data/replayed"); again.Kind() == canon.Bool && again.Bool() {
			word += " again"
		}
		out = append(out, word)
	}
	return out
}

func TestEveryLoopCallsWaitsGoesOnAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	for name, program := range programs(t) {
		for shape := range scripts {
			t.Run(name+" "+shape, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				d.decide(true)
				d.lost = 1 // the first answer never comes
				got, said := d.start(program, shape, "run-1")
				want := []string{"ok ok again", "ok ok", "uncertain outcome_uncertain", "invalid_arguments invalid_arguments"}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
				if !strings.Contains(said, "9007199254740993") {
					t.Errorf("a number of the tool's answer is another for the model: %s", said)
				}
				again, _ := d.start(program, shape, "run-1")
				want = []string{"ok ok again", "ok ok again", "uncertain outcome_uncertain again", "invalid_arguments invalid_arguments"}
				if diff := cmp.Diff(want, again); diff != "" {
					t.Errorf("results of the whole run again (-want +got):\n%s", diff)
				}
				runs := []string{`{"amount":9007199254740991,"text":"hé"}`, `{"amount":840000,"text":"rent"}`, `{"text":"lose"}`}
				if diff := cmp.Diff(runs, d.ran()); diff != "" {
					t.Errorf("runs (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestEveryLoopTakesANoForAnAnswer(t *testing.T) {
	t.Parallel()
	for name, program := range programs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.decide(false)
			got, _ := d.start(program, "openai", "run-2")
			if len(got) != 4 || !strings.HasPrefix(got[1], "denied rejected") {
				t.Errorf("results %v", got)
			}
			if runs := d.ran(); len(runs) != 2 {
				t.Errorf("these ran: %v", runs)
			}
		})
	}
}

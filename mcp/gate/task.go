package gate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// TasksExtension is the extension of MCP in which a server may answer a call
// with a task that it works on, where client and server both declare it.
const TasksExtension = "io.modelcontextprotocol/tasks"

// Tasks are the tasks that servers gave to callers: a task is reached by who
// was given it, and by nobody else. The zero value is ready; it is safe for
// concurrent use.
type Tasks struct {
	mu    sync.Mutex
	given map[string]given
}

type given struct {
	server string // "" where two servers gave the same caller one id
	until  time.Time
}

// The bounds of tasks: how many are remembered, for how long, and how long an
// id is.
const (
	maxTasks  = 10_000
	tasksKept = 24 * time.Hour
	maxTaskID = 1024
)

func taskKey(who verbatim.Session, id string) string {
	out := ""
	for _, s := range []string{who.Tenant, who.Principal, who.Agent, id} {
		out += strconv.Itoa(len(s)) + ":" + s
	}
	return out
}

// note remembers that a server gave a task to a caller.
func (k *Tasks) note(who verbatim.Session, server, id string, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.given == nil {
		k.given = map[string]given{}
	}
	if len(k.given) >= maxTasks {
		for key, g := range k.given {
			if now.After(g.until) {
				delete(k.given, key)
			}
		}
	}
	key := taskKey(who, id)
	old, again := k.given[key]
	if len(id) > maxTaskID || !again && len(k.given) >= maxTasks {
		return // nobody reaches it; what became of it the record says
	}
	if again && old.server != server {
		server = ""
	}
	k.given[key] = given{server, now.Add(tasksKept)}
}

// Server returns the server that gave the task that a message names to who
// asks.
func (k *Tasks) Server(who verbatim.Session, m *wire.Message) (server string, ok bool) {
	id, ok := textAt(m, "/params/taskId")
	if !ok {
		return "", false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	g, ok := k.given[taskKey(who, id)]
	return g.server, ok && g.server != "" && time.Now().Before(g.until)
}

// aboutTask are the methods of the extension that a client may send.
func aboutTask(method string) bool {
	return method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel"
}

// declaresTasks reports whether a request says that its client has the
// extension.
func declaresTasks(m *wire.Message) bool {
	if m.ProtocolVersion() == "" {
		return false
	}
	if can := m.Capabilities(); can == nil || string(can) == "{}" { // as most say
		return false
	}
	at := canon.JoinPointer("/params/_meta", "io.modelcontextprotocol/clientCapabilities") + "/extensions"
	_, found, err := m.Member(canon.JoinPointer(at, TasksExtension))
	return found && err == nil
}

func isTask(answer *wire.Message) bool {
	kind, _ := textAt(answer, "/result/resultType")
	return kind == "task"
}

const textNoTask = "there is no such task"

var errTask = errors.New("the server gave a task that it may not give")

// task takes an answer that is a task. A read has its answer with that. For a
// mutation the client gets the task at once, and the run goes on until the
// server says what became of it.
func (f *forward) task(ctx context.Context, answer *wire.Message) (execute.Output, error) {
	id, ok := textAt(answer, "/result/taskId")
	if !ok || id == "" || !declaresTasks(f.tools.message) {
		return execute.Output{}, fmt.Errorf("%w: %w", execute.ErrLost, errTask)
	}
	d := f.tools.desk
	d.cfg.Tasks.note(d.cfg.Session, d.cfg.Server, id, time.Now())
	if !f.tool.Mutation {
		f.tools.reply.Store(answer)
		return execute.Output{Bytes: answer.Result()}, nil
	}
	select {
	case f.tools.early <- answer:
	default: // only the first try is of the client's call
	}
	return f.follow(ctx, id, pollOf(answer))
}

// unlessTask makes a call, and returns its answer, or the task that the server
// gave for it meanwhile. The run then goes on.
func (d *Desk) unlessTask(m *wire.Message, t *tools, run func() *wire.Message) *wire.Message {
	if !declaresTasks(m) {
		return run()
	}
	t.early = make(chan *wire.Message, 1)
	answered := make(chan *wire.Message, 1)
	d.runs.Go(func() { answered <- run() })
	select {
	case answer := <-answered:
		return answer
	case task := <-t.early:
		return d.readdress(task, m.ID())
	}
}

// The pauses between two questions after a task.
const (
	firstPoll = time.Second
	leastPoll = 200 * time.Millisecond
	mostPoll  = 10 * time.Second
)

func pollOf(answer *wire.Message) time.Duration {
	raw, found, err := answer.Member("/result/pollIntervalMs")
	ms, errNumber := strconv.Atoi(string(raw))
	if err != nil || !found || errNumber != nil {
		return firstPoll
	}
	return min(max(time.Duration(ms)*time.Millisecond, leastPoll), mostPoll)
}

// follow asks after a task until it has ended. After the time of the run it
// goes on for a while, as for any late answer.
func (f *forward) follow(ctx context.Context, id string, pause time.Duration) (execute.Output, error) {
	m, err := f.question(id)
	if err != nil {
		return execute.Output{}, fmt.Errorf("%w: %w", execute.ErrLost, err)
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), LateFor)
	defer cancel()
	defer context.AfterFunc(ctx, func() { // nobody waits for it any more, as for any run
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})()
	for {
		select {
		case <-late.Done():
			return execute.Output{}, fmt.Errorf("%w: %w", execute.ErrLost, late.Err())
		case <-time.After(pause):
		}
		answer, err := f.tools.desk.line.Ask(late, m, Trip{})
		if err != nil || answer.Kind() != wire.KindResult {
			return execute.Output{}, fmt.Errorf("%w: nobody can say what became of the task", execute.ErrLost)
		}
		if out, ended, err := became(answer); ended {
			return out, err
		}
	}
}

// question asks after a task in the form of the client's own request.
func (f *forward) question(id string) (*wire.Message, error) {
	params := canon.ObjectValue(canon.Member{Name: "taskId", Value: canon.StringValue(id)}).Canonical()
	m, err := wire.NewRequest(wire.NumberID(0), "tasks/get", params)
	if err != nil {
		return nil, err
	}
	meta, _, err := f.tools.message.Member("/params/_meta")
	if err != nil {
		return nil, err
	}
	if m, err = m.WithMember("/params/_meta", meta); err != nil {
		return nil, err
	}
	if m, err = m.Without("/params/_meta/progressToken"); err != nil {
		return nil, err
	}
	return m.WithoutOwnMeta()
}

// became reads what a server says of a task.
func became(answer *wire.Message) (out execute.Output, ended bool, err error) {
	status, _ := textAt(answer, "/result/status")
	switch status {
	case "working", "input_required":
		return out, false, nil
	case "completed":
		raw, found, err := answer.Member("/result/result")
		flag, _, errFlag := answer.Member("/result/result/isError")
		if err != nil || errFlag != nil || !found {
			return out, true, fmt.Errorf("%w: %w", execute.ErrLost, errMalformed)
		}
		return execute.Output{Bytes: raw, IsError: len(flag) > 0 && string(flag) != "false"}, true, nil
	case "failed":
		raw, found, err := answer.Member("/result/error")
		if err != nil || !found {
			return out, true, fmt.Errorf("%w: %w", execute.ErrLost, errMalformed)
		}
		return execute.Output{Bytes: raw, IsError: true}, true, nil
	default: // cancelled says nothing of what was done before
		return out, true, fmt.Errorf("%w: the task ended without a result", execute.ErrLost)
	}
}

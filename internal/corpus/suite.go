package corpus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Call is one call of a suite.
type Call struct {
	Tool string
	Args canon.Value
	// Key is the idempotency key that the host makes of one yes; "" if none.
	Key string
	// Computed: the suite's program computes an argument while it runs, so
	// that Args holds a placeholder.
	Computed bool
}

// Task is a list of calls that belong together.
type Task struct {
	ID       string
	Customer string // tau-bench: whose task it is
	Prompt   string // AgentDojo: what the user has written
	Goal     string // AgentDojo: what the attacker wants
	Calls    []Call
}

// suite is what was published for one domain.
type suite struct {
	schemas  map[string]canon.Value // by tool
	honest   []Task
	injected []Task
}

// readTau reads a domain of tau-bench: tools as OpenAI function schemas, and
// the expected calls of its test set.
func readTau(dir, domain string) (suite, error) {
	s := suite{schemas: map[string]canon.Value{}}
	tools, err := readJSON(filepath.Join(dir, domain+".tools.json"))
	if err != nil {
		return s, err
	}
	for _, t := range tools.Elements() {
		f := member(t, "function")
		s.schemas[member(f, "name").Text()] = member(f, "parameters")
	}
	tasks, err := readJSON(filepath.Join(dir, domain+".tasks_test.json"))
	if err != nil {
		return s, err
	}
	for i, t := range tasks.Elements() {
		task := Task{ID: strconv.Itoa(i), Customer: member(t, "user_id").Text()}
		for _, a := range member(t, "actions").Elements() {
			task.Calls = append(task.Calls, Call{Tool: member(a, "name").Text(), Args: member(a, "kwargs")})
		}
		s.honest = append(s.honest, task)
	}
	return s, s.check()
}

// readDojo reads a domain of AgentDojo: tools, the calls that solve the user's
// tasks, and the calls that an injected text wants.
func readDojo(dir, domain string) (suite, error) {
	s := suite{schemas: map[string]canon.Value{}}
	tools, err := readJSON(filepath.Join(dir, domain+".tools.json"))
	if err != nil {
		return s, err
	}
	for _, t := range tools.Elements() {
		s.schemas[member(t, "name").Text()] = shown(member(t, "inputSchema"))
	}
	if s.honest, err = dojoTasks(filepath.Join(dir, domain+".user_tasks.json")); err != nil {
		return s, err
	}
	if s.injected, err = dojoTasks(filepath.Join(dir, domain+".injection_tasks.json")); err != nil {
		return s, err
	}
	return s, s.check()
}

func dojoTasks(path string) ([]Task, error) {
	list, err := readJSON(path)
	if err != nil {
		return nil, err
	}
	var out []Task
	for _, t := range list.Elements() {
		task := Task{ID: member(t, "id").Text(), Prompt: member(t, "prompt").Text(),
			Goal: member(t, "goal").Text()}
		for _, c := range member(t, "ground_truth").Elements() {
			task.Calls = append(task.Calls, Call{Tool: member(c, "function").Text(), Args: member(c, "args"),
				Computed: member(c, "dynamic").Bool()})
		}
		out = append(out, task)
	}
	return out, nil
}

// injectedByProgram marks a parameter that the suite's own program fills in
// and no model ever sees.
const injectedByProgram = "x-python-type"

// shown is a published schema without the parameters that no model sees.
func shown(schema canon.Value) canon.Value {
	var hidden []string
	for _, m := range member(schema, "properties").Members() {
		if _, ok := m.Value.Get(injectedByProgram); ok {
			hidden = append(hidden, m.Name)
			schema = schema.Without(canon.JoinPointer("/properties", m.Name))
		}
	}
	var required []canon.Value
	for _, name := range member(schema, "required").Elements() {
		if !slices.Contains(hidden, name.Text()) {
			required = append(required, name)
		}
	}
	if out, ok := schema.With("/required", canon.ArrayValue(required...)); ok {
		return out
	}
	return schema
}

// check refuses a suite that was not read as it is written.
func (s suite) check() error {
	if len(s.honest) == 0 || len(s.schemas) == 0 {
		return errors.New("a suite without tasks or tools")
	}
	for _, tasks := range [][]Task{s.honest, s.injected} {
		for _, t := range tasks {
			for _, c := range t.Calls {
				if _, ok := s.schemas[c.Tool]; !ok || c.Args.Kind() != canon.Object {
					return fmt.Errorf("task %s calls a tool that was not published, or without arguments", t.ID)
				}
			}
		}
	}
	return nil
}

func readJSON(path string) (canon.Value, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return canon.Value{}, fmt.Errorf("read suite: %w", err)
	}
	v, err := canon.Decode(data, canon.Options{MaxBytes: canon.CeilingBytes})
	if err != nil {
		return v, fmt.Errorf("read suite %s: %w", filepath.Base(path), err)
	}
	return v, nil
}

// member is a member of an object, or null.
func member(v canon.Value, name string) canon.Value {
	if v.Kind() != canon.Object {
		return canon.NullValue()
	}
	if x, ok := v.Get(name); ok {
		return x
	}
	return canon.NullValue()
}

package crash_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

// order is the variable that makes this binary a child.
const order = "VERBATIM_CRASH_RUN"

// TestChild is what a child process does: its run, to the point of its end.
func TestChild(t *testing.T) {
	text := os.Getenv(order)
	if text == "" {
		return // this is the parent
	}
	var r run
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	act(t, r)
}

func act(t *testing.T, r run) {
	var stopped atomic.Bool
	var stopping sync.WaitGroup // so that the scene does not end meanwhile
	var w *world
	w = open(t, r, 0, func(point string) {
		if point != r.Point || stopped.Swap(true) {
			return
		}
		stopping.Add(1)
		defer stopping.Done()
		fmt.Println("at " + point)
		if !r.Stop {
			end()
		}
		w.store.(*tap).standStill(t, stop)
	})
	w.provider.OnStep(func(_ context.Context, step string) error {
		w.point("tool " + step)
		if r.Refuse && stopped.Load() && step == verbatimtest.StepArrive {
			return execute.ErrNotRun
		}
		return nil
	})
	scenes()[r.Scene](t.Context(), w)
	w.gate.Wait()
	stopping.Wait()
	w.close(t)
	fmt.Println("over")
}

// child is a running child process.
type child struct {
	*exec.Cmd
	run
	lines  *bufio.Scanner
	stderr bytes.Buffer
}

func start(t *testing.T, r run) *child {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	c := &child{Cmd: exec.Command(os.Args[0], "-test.run=^TestChild$"), run: r}
	c.Env = append(os.Environ(), order+"="+string(text))
	c.Stderr = &c.stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// listen reads what the child says until a line that starts with until, or
// its end. It returns what it told, and whether the line came.
func (c *child) listen(t *testing.T, until string) (answers []told, came bool) {
	t.Helper()
	for c.lines.Scan() {
		line := c.lines.Text()
		if text, ok := strings.CutPrefix(line, "told "); ok {
			var a told
			if err := json.Unmarshal([]byte(text), &a); err != nil {
				t.Fatal(err)
			}
			answers = append(answers, a)
		}
		came = came || strings.HasPrefix(line, "at ")
		if until != "" && strings.HasPrefix(line, until) {
			return answers, true
		}
		if strings.HasPrefix(line, "--- FAIL") || strings.HasPrefix(line, "error") {
			t.Logf("the child of %s at %q: %s %s", c.Scene, c.Point, line, c.stderr.String())
		}
	}
	return answers, came
}

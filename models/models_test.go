package models_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/needs"
)

// search is one run of Spin: a model, with definitions that choose a variant
// or take a rule out.
type search struct {
	model   string
	defines []string
	states  int // at least; 0 for mutants
}

// designs are searched to the end and must hold.
func designs() []search {
	return []search{
		{"life", nil, 400_000},
		{"life", []string{"CANCEL"}, 800_000},
		{"votes", nil, 1_000},
		{"budget", nil, 1_000},
		{"policy", nil, 1_000},
		{"drift", nil, 100},
		{"resend", nil, 500},
		{"resend", []string{"BLIND"}, 200},
		{"operator", nil, 1_000},
		{"keys", nil, 1_000},
		{"restore", nil, 1_000},
	}
}

// mutants lack one rule each (two where another rule is a second line behind
// it) and must be caught.
func mutants() []search {
	var out []search
	for _, m := range []struct {
		model string
		bugs  []string
	}{
		{"life", []string{"CLAIM_WITHOUT_CAS", "TAKE_OVER_RUNNING", "CHECK_THEN_ACT", "SEND_BEFORE_COMMIT",
			"TIMEOUT_IS_FAILURE", "FENCELESS_FINISH", "REVOKE_RUNNING", "NOT_FOUND_IS_FAILURE", "RESTART_RUNS_AGAIN"}},
		{"votes", []string{"PROPOSER_VOTES", "COUNTS_SESSIONS", "REJECTION_IS_ONE_VOTE", "VOTES_NOT_COUNTED_AGAIN"}},
		{"budget", []string{"LIMIT_CHECKED_BEFORE", "ONE_LIMIT_OF_TWO", "UNCERTAIN_IS_RELEASED", "SETTLED_TWICE"}},
		{"policy", []string{"MEMORY_DECIDES", "VERSION_WITHOUT_EPOCH", "EPOCH_COMES_BACK"}},
		{"drift", []string{"NOT_ASKED_AGAIN", "NEW_ANSWER_RUNS", "GONE_IS_UNCHANGED"}},
		{"resend", []string{"NEW_KEY", "SENT_AFTER_RETENTION", "STOP_NOT_ASKED_AGAIN", "BLIND_IS_SENT_AGAIN+BLIND"}},
		{"operator", []string{"PROPOSER_CONFIRMS", "ONE_PERSON_CONFIRMS", "CONFIRMS_WHAT_IS_THERE_NOW", "LATE_REPLY_OVERWRITES"}},
		{"keys", []string{"LOOK_UP_THEN_INSERT", "FINGERPRINT_NOT_COMPARED", "UNCERTAIN_FREES_THE_KEY"}},
		{"restore", []string{"NOT_STOPPED", "EPOCH_KEPT", "EPOCH_PLUS_ONE", "OPEN_ROWS_KEPT+BUG_EPOCH_KEPT"}},
	} {
		for _, bug := range m.bugs {
			out = append(out, search{model: m.model, defines: strings.Split("BUG_"+bug, "+")})
		}
	}
	return out
}

func (s search) name() string { return strings.Join(append([]string{s.model}, s.defines...), "+") }

func (s search) mutant() bool { return strings.HasPrefix(strings.Join(s.defines, ""), "BUG_") }

// TestModels is the whole of make spin: every design holds in every state
// that it can reach, every mutant is caught by an assertion.
func TestModels(t *testing.T) {
	t.Parallel()
	spin := needs.Program(t, "spin")
	for _, s := range append(designs(), mutants()...) {
		if testing.Short() && s.model == "life" { // the one model that takes seconds
			continue
		}
		t.Run(s.name(), func(t *testing.T) {
			t.Parallel()
			started := time.Now()
			out := s.run(t, spin)
			found := read(t, out)
			switch {
			case s.mutant() && !found.asserted:
				t.Fatalf("the mutant was not caught:\n%s", out)
			case !s.mutant():
				s.holds(t, found, out)
			}
			t.Logf("%s: %d states, %d errors, %.1f s", s.name(), found.states, found.errors, time.Since(started).Seconds())
		})
	}
}

func (s search) holds(t *testing.T, found outcome, out string) {
	t.Helper()
	if found.errors != 0 || !found.whole {
		t.Fatalf("the design does not hold, or was not searched to the end:\n%s", out)
	}
	if found.states < s.states {
		t.Errorf("%d states, want at least %d: the model has lost something", found.states, s.states)
	}
	for _, line := range s.unmoved(t, out) {
		t.Errorf("no run comes here: %s", line)
	}
}

// run makes, compiles and runs the search of one model.
func (s search) run(t *testing.T, spin string) string {
	t.Helper()
	dir := t.TempDir()
	source, err := filepath.Abs(s.model + ".pml")
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"-a"}
	for _, d := range s.defines {
		flags = append(flags, "-D"+d)
	}
	execute(t, dir, spin, append(flags, source)...)
	level := "-O2"
	if s.states < 100_000 {
		level = "-O0" // the compiler takes longer than the search
	}
	execute(t, dir, "cc", level, "-w", "-DSAFETY", "-DMEMLIM=2000", "-o", "pan", "pan.c")
	return execute(t, dir, filepath.Join(dir, "pan"), "-m100000", "-E")
}

// execute runs a program to its end. Pan ends with 0 even where it finds an
// error; what it found is in its output.
func execute(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(program), err, out)
	}
	return string(out)
}

// outcome is what pan says of a search.
type outcome struct {
	errors, states int
	asserted       bool // an assertion is what failed
	whole          bool // nothing was cut off
}

var (
	errorCount = regexp.MustCompile(`errors: (\d+)`)
	stateCount = regexp.MustCompile(`(?m)^\s*(\S+) states, stored`)
)

func read(t *testing.T, out string) outcome {
	t.Helper()
	errs, states := errorCount.FindStringSubmatch(out), stateCount.FindStringSubmatch(out)
	if errs == nil || states == nil {
		t.Fatalf("not the output of a search:\n%s", out)
	}
	n, err := strconv.ParseFloat(states[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	count, err := strconv.Atoi(errs[1])
	if err != nil {
		t.Fatal(err)
	}
	cut := strings.Contains(out, "max search depth too small") || strings.Contains(out, "not completed") ||
		strings.Contains(out, "out of memory") || strings.Contains(out, "memory limit")
	return outcome{errors: count, states: int(n), asserted: count > 0 && strings.Contains(out, "assertion violated"), whole: !cut}
}

var unreached = regexp.MustCompile(`(?m)^\t\S+\.pml:(\d+), state \d+, ".*"$`)

// unmoved returns the lines of the model that move a row and that no run
// reached.
func (s search) unmoved(t *testing.T, out string) []string {
	t.Helper()
	text, err := os.ReadFile(s.model + ".pml")
	if err != nil {
		t.Fatal(err)
	}
	lines, seen := strings.Split(string(text), "\n"), map[int]bool{}
	var moves []string
	for _, m := range unreached.FindAllStringSubmatch(out, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 || n > len(lines) {
			t.Fatalf("line %s of %s", m[1], s.model)
		}
		if !seen[n] && strings.Contains(lines[n-1], "move(") {
			moves = append(moves, fmt.Sprintf("%s.pml:%d: %s", s.model, n, strings.TrimSpace(lines[n-1])))
		}
		seen[n] = true
	}
	return moves
}

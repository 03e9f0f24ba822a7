package checkers_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/needs"
	"github.com/seed-de4804fb/verbatim/warrant"
	"github.com/seed-de4804fb/verbatim/warrant/uses"
)

// user takes the use of a warrant.
type user func(w warrant.Warrant) string

// process is a program that takes uses from its standard input.
func process(t *testing.T, command ...string) user {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("%v: %v", command, err)
		}
	})
	lines := bufio.NewReader(out)
	return func(w warrant.Warrant) string {
		if _, err := fmt.Fprintf(in, "%s %d %d\n", w.Action, w.Fence, w.IssuedAt.UnixMilli()); err != nil {
			return err.Error()
		}
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return err.Error()
		}
		return strings.TrimSpace(line)
	}
}

// Go, Node and Python share one directory, which whoever comes first makes:
// each warrant is taken by one of them.
func TestCheckersShareAMemory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "uses")
	node := process(t, needs.Peer(t, "node"), "uses.mjs", dir)
	python := process(t, needs.Program(t, "python3"), "uses.py", dir)
	shared, err := uses.OpenDirectory(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	golang := func(w warrant.Warrant) string {
		v, err := shared.Use(t.Context(), w)
		if err != nil {
			return err.Error()
		}
		return string(v)
	}
	all := []user{node, python, golang}
	ask := func(at time.Time, action string, fence int64, who ...user) []string {
		out := make([]string, len(who))
		var done sync.WaitGroup
		for i, use := range who {
			done.Go(func() {
				out[i] = use(warrant.Warrant{Action: action, Fence: fence, IssuedAt: at, SendBy: at.Add(warrant.MaxLife)})
			})
		}
		done.Wait()
		return out
	}
	old := time.Now().Add(-time.Hour)
	if got := ask(old, "act_old", 1, all...); !slices.Equal(got, []string{"replayed", "replayed", "replayed"}) {
		t.Errorf("signed before the memory began: %v", got)
	}
	now := time.Now().Add(time.Second).Truncate(time.Millisecond)
	for i := range 60 {
		got := ask(now, fmt.Sprintf("act_%d", i), 1, all...)
		slices.Sort(got)
		if !slices.Equal(got, []string{"ok", "replayed", "replayed"}) {
			t.Errorf("act_%d: %v", i, got)
		}
	}
	for i, use := range all { // each sends one again, and the others know
		action := fmt.Sprintf("act_%d", i)
		if got := ask(now, action, 2, use); got[0] != "ok" {
			t.Errorf("%s sent again: %v", action, got)
		}
		if got := ask(now, action, 1, all...); !slices.Equal(got, []string{"other_attempt", "other_attempt", "other_attempt"}) {
			t.Errorf("%s, the first sending: %v", action, got)
		}
	}
}

// A checker that forgets a use notes up to when, so that a clock that was set
// back brings its warrant not to life again: neither here nor in the others.
func TestCheckersNoteUpToWhenTheyForget(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{"Node": {needs.Peer(t, "node"), "uses.mjs"}, "Python": {needs.Program(t, "python3"), "uses.py"}} {
		dir := filepath.Join(t.TempDir(), "uses")
		earlier := func() time.Time { return time.Now().Add(-time.Hour) }
		shared, err := uses.OpenDirectory(dir, earlier)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-10 * time.Minute).Truncate(time.Millisecond)
		w := warrant.Warrant{Action: "act_1", Fence: 1, IssuedAt: at, SendBy: at.Add(warrant.MaxLife)}
		sum := sha256.Sum256([]byte(w.Action))
		used := filepath.Join(dir, hex.EncodeToString(sum[:1]), hex.EncodeToString(sum[:])+".1")
		if err := os.WriteFile(used, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(used, at, at); err != nil {
			t.Fatal(err)
		}
		if got := process(t, append(command, dir)...)(w); got != "replayed" {
			t.Errorf("%s: %s", name, got)
		}
		if _, err := os.Stat(used); !os.IsNotExist(err) {
			t.Errorf("%s: the use is kept: %v", name, err)
		}
		if v, err := shared.Use(t.Context(), w); v != warrant.Replayed || err != nil {
			t.Errorf("Go, after %s: %s, %v", name, v, err)
		}
	}
}

// once are programs that check a warrant with a memory in a directory, once
// more, and with another checker on the same directory.
var once = map[string][]string{
	"Node": {"--input-type=module", "-e", `
import { readFileSync } from "node:fs";
import { Checker } from "./warrant.mjs";
import { Directory } from "./uses.mjs";
const x = JSON.parse(readFileSync(0, "utf8"));
const now = () => Date.parse(x.now);
const memory = () => new Directory(x.dir, () => Date.parse(x.now) - 60000);
const check = (c) => c.check(Buffer.from(x.envelope), Buffer.from(x.arguments)).verdict;
const c = new Checker({ audience: x.audience, keys: x.keys, now, memory: memory() });
console.log(check(c), check(c), check(new Checker({ audience: x.audience, keys: x.keys, now, memory: memory() })));
`},
	"Python": {"-c", `
import json, sys
from warrant import Checker, moment
from uses import Directory
x = json.load(sys.stdin)
now = lambda: moment(x["now"])
memory = lambda: Directory(x["dir"], lambda: now() - 60000)
check = lambda c: c.check(x["envelope"].encode(), x["arguments"].encode()).verdict
c = Checker(x["audience"], x["keys"], now, memory())
print(check(c), check(c), check(Checker(x["audience"], x["keys"], now, memory())))
`},
}

func TestACheckerUsesTheMemoryThatItIsGiven(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	var good check
	for _, c := range f.Cases {
		if x := c.Checks[0]; x.Verdict == warrant.OK && x.Arguments != "" && good.Envelope == "" {
			good = x
		}
	}
	var trusted []string
	for _, k := range f.Keys {
		trusted = append(trusted, k.Public)
	}
	for name, command := range checkers(t) {
		input, err := json.Marshal(map[string]any{"dir": filepath.Join(t.TempDir(), "uses"), "now": good.Now, "audience": f.Audience, "keys": trusted,
			"envelope": good.Envelope, "arguments": good.Arguments})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), command[0], once[name]...)
		cmd.Stdin, cmd.Stderr = bytes.NewReader(input), t.Output()
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != "ok replayed replayed" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

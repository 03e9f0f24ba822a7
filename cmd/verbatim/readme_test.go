package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
)

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// blocks returns the code blocks of README.md in one language.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	var out []string
	for _, m := range fence.FindAllStringSubmatch(text(t, "../../README.md"), -1) {
		if m[1] == language {
			out = append(out, m[2])
		}
	}
	if len(out) == 0 {
		t.Fatalf("README.md has no %s block", language)
	}
	return out
}

// somebody is the principal of whoever runs the demo.
var somebody = regexp.MustCompile(`"local:[^"]*" \(filled\)`)

func TestREADMETranscriptIsWhatTheDemoPrints(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "verbatim", "demo", "--once") // the test binary, under its other name
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("demo: %v\n%s%s", err, out, failed.String())
	}
	printed := somebody.ReplaceAllString(string(out), `"local:you" (filled)`)
	denied := false
	for _, act := range strings.Split(strings.TrimSpace(blocks(t, "text")[0]), "\n\n") {
		if !strings.Contains(printed, "\n\n"+act+"\n") {
			t.Errorf("the demo does not print this act of README.md:\n%s\n\nit prints:\n%s", act, printed)
		}
		denied = denied || strings.Contains(act, "denied, ")
	}
	if !denied {
		t.Error("the transcript of README.md shows no denial")
	}
}

// TestREADMECommandsRun compares the commands of README.md with the script
// that runs them.
func TestREADMECommandsRun(t *testing.T) {
	t.Parallel()
	script := text(t, "../../testdata/script/official/readme.txt")
	makefile := text(t, "../../Makefile")
	var ran []string
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(strings.TrimPrefix(line, "! "), "\n")
		if command, ok := strings.CutPrefix(line, "exec verbatim "); ok {
			ran = append(ran, "verbatim "+strings.NewReplacer("'$WORK'/", "/srv/", "$WORK/", "/srv/", "$ID", "ACTION").Replace(command))
		}
	}
	var shown []string
	for _, b := range blocks(t, "sh") {
		for line := range strings.Lines(b) {
			line = strings.TrimSpace(line)
			if target, ok := strings.CutPrefix(line, "make "); ok {
				if !strings.Contains(makefile, "\n"+target+": ") {
					t.Errorf("README.md says %q, and the Makefile has no such target", line)
				}
				continue
			}
			shown = append(shown, line)
		}
	}
	if diff := cmp.Diff(ran, shown); diff != "" {
		t.Errorf("commands (-script +README.md):\n%s", diff)
	}
	if command := "mcp-call read_text_file '{\"path\":\"'$WORK'/notes/a.txt\"}' " + clientCommand(t); !strings.Contains(script, command+"\n") {
		t.Errorf("the script does not run the client configuration of README.md: %s", command)
	}
}

// clientCommand is the command of the client configuration in README.md.
func clientCommand(t *testing.T) string {
	t.Helper()
	v, err := canon.Decode([]byte(blocks(t, "json")[0]), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server, ok := v.Lookup("/mcpServers/filesystem")
	if !ok {
		t.Fatal("README.md configures no server")
	}
	command := []string{at(server, "command").Text()}
	for _, a := range at(server, "args").Elements() {
		command = append(command, strings.Replace(a.Text(), "/srv/", "$WORK/", 1))
	}
	return strings.Join(command, " ")
}

var link = regexp.MustCompile(`\]\(([^)#:]+)\)`)

func TestREADMELinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, m := range link.FindAllStringSubmatch(text(t, "../../README.md"), -1) {
		if _, err := os.Stat("../../" + m[1]); err != nil {
			t.Errorf("README.md links to %s: %v", m[1], err)
		}
	}
}

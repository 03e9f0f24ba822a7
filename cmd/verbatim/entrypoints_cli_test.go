package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// cliEntries says how each command is tried: its arguments, with ID for the
// pending action. None of them runs the tool that writes: nobody approved,
// and nobody can from a pipe.
var cliEntries = map[string][][]string{
	"verbatim": {{}},
	"setup":    {{"setup"}},
	"people":   {{"people"}}, "people list": {{"people", "list"}}, "people invite": {{"people", "invite"}}, "people withdraw": {{"people", "withdraw", "ID"}},
	"people groups": {{"people", "groups", "ada"}}, "people disable": {{"people", "disable", "ada"}}, "people enable": {{"people", "enable", "ada"}},
	"people delegate": {{"people", "delegate", "ada"}}, "people undelegate": {{"people", "undelegate", "ID"}},
	"wrap":  {{"wrap", "--name", "notes", "--", "notes-mcp"}},
	"serve": {{"serve", "--no-such-flag"}, {"serve"}},
	"open":  {{"open", "--print"}},
	"stop":  {{"stop"}},
	"call": {
		{"call", "--wait", "10ms", "--name", "notes", "add", `{"text":"x"}`, "--", "notes-mcp"},
		{"call", "--wait", "10ms", "--approval", "ID", "--name", "notes", "add", `{"text":"pending"}`, "--", "notes-mcp"},
		{"call", "--wait", "10ms", "--key", "k", "--name", "notes", "add", `{"text":"x"}`, "--", "notes-mcp"},
	},
	"demo":                     {{"demo", "--once"}},
	"canon":                    {{"canon"}},
	"explain":                  {{"explain", "notes.add", `{"text":"x"}`}},
	"approvals":                {{"approvals"}},
	"approvals list":           {{"approvals", "list"}},
	"approvals show":           {{"approvals", "show", "ID"}},
	"approvals export":         {{"approvals", "export", "ID"}},
	"approvals verify":         {{"approvals", "verify", "none.votes"}},
	"approvals approve":        {{"approvals", "approve", "ID"}},
	"approvals reject":         {{"approvals", "reject", "ID", "--reason", "x"}},
	"approvals revoke":         {{"approvals", "revoke", "ID", "--reason", "x"}},
	"approvals happened":       {{"approvals", "happened", "ID", "--reason", "x"}},
	"approvals did-not-happen": {{"approvals", "did-not-happen", "ID", "--reason", "x"}},
	"status":                   {{"status"}},
	"grants":                   {{"grants"}},
	"grants list":              {{"grants", "list"}},
	"grants export":            {{"grants", "export", "ID"}},
	"grants revoke":            {{"grants", "revoke", "ID"}},
	"freeze":                   {{"freeze", "--tool", "notes.other"}},
	"freeze list":              {{"freeze", "list"}},
	"unfreeze":                 {{"unfreeze", "--tool", "notes.other", "--reason", "x"}},
	"audit":                    {{"audit"}},
	"audit list":               {{"audit", "list"}},
	"audit show":               {{"audit", "show", "1"}},
	"audit verify":             {{"audit", "verify"}},
	"audit bundle":             {{"audit", "bundle", "ID"}},
	"audit export":             {{"audit", "export", "DIR"}},
	"witness":                  {{"witness"}},
	"witness key":              {{"witness", "key", "--dir", "w", "--name", "w"}},
	"audit erase":              {{"audit", "erase", "ID", "--reason", "x"}},
	"audit checkpoint":         {{"audit", "checkpoint"}},
	"audit keys":               {{"audit", "keys"}, {"audit", "keys", "--warrants"}},
	"store":                    {{"store"}},
	"store check":              {{"store", "check"}},
	"store backup":             {{"store", "backup", "../none/copy.db"}},
	"store restore":            {{"store", "restore", "none.db"}},
	"store migrate":            {{"store", "migrate"}},
	"catalog":                  {{"catalog"}},
	"catalog lint":             {{"catalog", "lint"}},
	"catalog show":             {{"catalog", "show"}},
	"catalog pin":              {{"catalog", "pin", "--name", "notes", "--", "notes-mcp"}},
	"catalog diff":             {{"catalog", "diff", "--name", "notes", "--", "notes-mcp"}},
	"catalog approve":          {{"catalog", "approve", "--name", "notes", "notes.add", "00", "--", "notes-mcp"}},
	"catalog import":           {{"catalog", "import", "--name", "notes", "--", "notes-mcp"}},
	"policy":                   {{"policy"}},
	"policy check":             {{"policy", "check"}},
	"policy test":              {{"policy", "test", "none.json"}},
	"policy replay":            {{"policy", "replay"}},
	"policy shadow":            {{"policy", "shadow"}},
	"version":                  {{"version"}},
}

// commandsOf lists every command by its words, without "verbatim". Hidden
// ones count: they can be typed as well.
func commandsOf(c *cobra.Command) []string {
	words := strings.TrimPrefix(c.CommandPath(), "verbatim ")
	out := []string{words}
	for _, sub := range c.Commands() {
		out = append(out, commandsOf(sub)...)
	}
	return out
}

// toolsOfOurOwn are hidden commands that are tools themselves: they stand
// behind the gateway, not before it.
var toolsOfOurOwn = map[string]bool{"demo-bank": true}

func TestNoCommandRunsAMutationWithoutAnApproval(t *testing.T) {
	t.Parallel()
	var found []string
	for _, c := range commandsOf(rootCommand(terminalStreams())) {
		if !toolsOfOurOwn[c] {
			found = append(found, c)
		}
	}
	sameEntries(t, found, keysOf(cliEntries))

	dir := t.TempDir()
	home, notes := filepath.Join(dir, "home"), filepath.Join(dir, "notes.txt")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "verbatim.yaml"), []byte("listen: 127.0.0.1:0\nwait: 50ms\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endDaemon(home) })
	env := append(os.Environ(), "VERBATIM_HOME="+home, "NOTES="+notes)
	out := typed(t, env, "call", "--wait", "10ms", "--name", "notes", "add", `{"text":"pending"}`, "--", "notes-mcp")
	id := actionID.FindString(out)
	if id == "" {
		t.Fatalf("no pending action: %s", out)
	}
	for _, lines := range cliEntries {
		for _, args := range lines {
			for i := range args {
				args[i] = strings.NewReplacer("ID", id, "DIR", filepath.Join(dir, "exported")).Replace(args[i])
			}
			typed(t, env, args...)
		}
	}
	if text, err := os.ReadFile(notes); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a note was written: %q, %v", text, err)
	}
	after := typed(t, env, "approvals", "show", id)
	if !strings.Contains(after, "pending_approval") {
		t.Errorf("the action is not pending any more: %s", after)
	}
}

// typed runs one command line without a terminal and returns what it prints.
// A command that stays is ended after a moment.
func typed(t *testing.T, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "verbatim", args...)
	cmd.Env = env
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"text":"x"}}}` + "\n")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if len(args) > 0 && args[0] == "serve" {
		time.AfterFunc(time.Second, cancel)
	}
	err := cmd.Run() // most of these are refused; what counts is what ran
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

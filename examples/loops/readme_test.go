package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/internal/config"
)

// block is the first fenced block of a kind in the README.
func block(t *testing.T, kind string) string {
	t.Helper()
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```"+kind+"\n")
	text, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatalf("no block of %s", kind)
	}
	return text
}

// What the README tells a reader to write down is what the gateway and the
// loops read.
func TestTheFilesOfTheReadmeAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "serve.yaml")
	if err := os.WriteFile(file, []byte(block(t, "yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Home(dir), file, false)
	if err != nil {
		t.Fatal(err)
	}
	if e := c.Endpoint; e == nil || len(e.Tokens) != 1 || e.Tokens[0].Owner != "local:YOU" || e.Tokens[0].Secret.File != filepath.Join(dir, "support.token") {
		t.Errorf("%+v", c.Endpoint)
	}
	script, err := decode([]byte(block(t, "json")))
	if err != nil {
		t.Fatal(err)
	}
	calls := openAICalls(script.At(0))
	if len(calls) != 1 || calls[0].name != "files__write_file" || len(openAICalls(script.At(1))) > 0 {
		t.Errorf("%+v", calls)
	}
	if v, err := decode([]byte(calls[0].arguments)); err != nil || at(v, "/content") != "hello" {
		t.Errorf("%s: %v", calls[0].arguments, err)
	}
}

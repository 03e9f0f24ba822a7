package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

// endDaemon ends the daemon of a home and waits until it is gone.
func endDaemon(home string) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	if c, err := daemon.Connect(ctx, config.Home(home)); err == nil {
		_ = c.Stop(ctx) // it may just be ending by itself
	}
	for ctx.Err() == nil {
		if lock, err := daemon.TakeLock(config.Home(home)); err == nil || !errors.Is(err, daemon.ErrRunning) {
			if err == nil {
				_ = lock.Free()
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// notesServer is an MCP server with a tool that reads and one that writes.
// Every run of the latter adds a line to $NOTES, so that runs can be counted;
// with $NOTES_KEYS it adds none for a provider key that it has noted there.
func notesServer() {
	s := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "list", Description: "Lists the notes." + os.Getenv("NOTES_ADVICE"), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)}, listNotes)
	s.AddTool(&mcp.Tool{Name: "add", Description: "Adds a note.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"slowMs":{"type":"integer"}},"required":["text"]}`)}, addNote)
	fmt.Fprintln(os.Stderr, "notes server started")
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fatal(err)
	}
}

func listNotes(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	text, err := os.ReadFile(os.Getenv("NOTES"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "notes: " + string(text)}}}, nil
}

func addNote(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args struct {
		Text   string `json:"text"`
		SlowMS int    `json:"slowMs"`
	}
	if err := json.Unmarshal(r.Params.Arguments, &args); err != nil {
		return nil, err
	}
	added := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "added"}}}
	known, err := knownKey(os.Getenv("NOTES_KEYS"), r.Params.Meta)
	if err != nil || known {
		return added, err
	}
	if err := appendLine(os.Getenv("NOTES"), args.Text); err != nil {
		return nil, err
	}
	time.Sleep(time.Duration(args.SlowMS) * time.Millisecond)
	if args.Text == os.Getenv("NOTES_DIES") && args.Text != "" {
		os.Exit(1) // the note is there, and nobody hears of it
	}
	return added, nil
}

// knownKey notes the provider key of a call in a file; it reports whether it
// was there before.
func knownKey(file string, meta mcp.Meta) (bool, error) {
	key, _ := meta["io.github.seed-de4804fb.verbatim/idempotencyKey"].(string)
	if file == "" || key == "" {
		return false, nil
	}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	return slices.Contains(strings.Fields(string(text)), key), appendLine(file, key)
}

func appendLine(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, text)
	return errors.Join(err, f.Close())
}

// mcpCall is an MCP client that makes one call: mcp-call [-approval ID]
// TOOL ARGUMENTS COMMAND... It prints the answer and exits with 3 if the
// answer is an error.
func mcpCall() {
	approval := flag.String("approval", "", "")
	key := flag.String("key", "", "")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.Command(flag.Arg(2), flag.Args()[3:]...)
	cmd.Stderr = os.Stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		fatal(err)
	}
	params := &mcp.CallToolParams{Name: flag.Arg(0), Arguments: json.RawMessage(flag.Arg(1)), Meta: mcp.Meta{}}
	for name, value := range map[string]string{"approval": *approval, "idempotencyKey": *key} {
		if value != "" {
			params.Meta["io.github.seed-de4804fb.verbatim/"+name] = value
		}
	}
	result, err := session.CallTool(ctx, params)
	if err != nil {
		fatal(err)
	}
	for _, c := range result.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			fmt.Println(text.Text)
		}
	}
	if result.StructuredContent != nil {
		text, err := json.Marshal(result.StructuredContent)
		if err != nil {
			fatal(err)
		}
		fmt.Println(string(text))
	}
	if err := session.Close(); err != nil {
		fatal(err)
	}
	if result.IsError {
		os.Exit(3)
	}
}

// sleepMS waits: sleep-ms MILLISECONDS.
func sleepMS() {
	ms, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fatal(err)
	}
	time.Sleep(time.Duration(ms) * time.Millisecond)
}

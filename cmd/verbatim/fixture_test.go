package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

const testPassword = "a good long password"

// place is a home of a test's own, with the notes beside it.
type place struct {
	t     *testing.T
	home  config.Home
	notes string
	env   []string
	held  string // how long a served endpoint holds calls that wait for people
}

// newPlace makes a home whose calls are held for wait while people decide.
func newPlace(t *testing.T, wait string) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{t: t, held: "200ms", home: config.Home(filepath.Join(dir, "home")), notes: filepath.Join(dir, "notes.txt")}
	if err := os.Mkdir(string(p.home), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := "listen: 127.0.0.1:0\nwait: " + wait + "\n"
	if err := os.WriteFile(p.home.Config(), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	p.env = append(os.Environ(), config.HomeVariable+"="+string(p.home), "NOTES="+p.notes)
	t.Cleanup(func() { endDaemon(string(p.home)) })
	return p
}

func (p *place) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	p.t.Cleanup(cancel)
	return ctx
}

// command runs this binary's verbatim in the place.
func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command("verbatim", args...)
	cmd.Env = p.env
	return cmd
}

// agent is an MCP client behind a wrap process of its own.
type agent struct {
	*mcp.ClientSession
	wrap *exec.Cmd
}

func (p *place) agent(args ...string) agent {
	p.t.Helper()
	cmd := p.command(append([]string{"wrap"}, args...)...)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(p.context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = session.Close() }) // some tests kill it before
	return agent{session, cmd}
}

func (p *place) notesAgent() agent {
	p.t.Helper()
	return p.agent("--name", "notes", "--", "notes-mcp")
}

// toolAnswer is what a call came back with.
type toolAnswer struct {
	Text   string
	Code   string
	Action string
}

// call makes one call; approval may be "".
func (p *place) call(a agent, tool, arguments, approval string) toolAnswer {
	p.t.Helper()
	got, err := callTool(p.context(), a, tool, arguments, approval)
	if err != nil {
		p.t.Fatal(err)
	}
	return got
}

func callTool(ctx context.Context, a agent, tool, arguments, approval string) (toolAnswer, error) {
	params := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}
	if approval != "" {
		params.Meta = mcp.Meta{"io.github.seed-de4804fb.verbatim/approval": approval}
	}
	result, err := a.CallTool(ctx, params)
	if err != nil {
		return toolAnswer{}, err
	}
	var out toolAnswer
	for _, c := range result.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			out.Text += text.Text
		}
	}
	if !result.IsError {
		return out, nil
	}
	text, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return out, err
	}
	var envelope struct {
		Code string
		Data struct{ ActionID string }
	}
	err = json.Unmarshal(text, &envelope)
	out.Code, out.Action = envelope.Code, envelope.Data.ActionID
	return out, err
}

// daemon connects to the running daemon.
func (p *place) daemon() *daemon.Client {
	p.t.Helper()
	c, err := daemon.Connect(p.context(), p.home)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// setup makes the account of the one operator.
func (p *place) setup() {
	p.t.Helper()
	_, principal, err := localPrincipal()
	if err != nil {
		p.t.Fatal(err)
	}
	_, err = p.daemon().AddAccount(p.context(), daemon.NewAccount{Name: "owner", Password: testPassword, Principal: principal})
	if err != nil {
		p.t.Fatal(err)
	}
}

// approve votes for an action as the daemon shows it.
func (p *place) approve(id string) {
	p.t.Helper()
	c := p.daemon()
	shown, err := c.Action(p.context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	moved, err := c.Vote(p.context(), id, daemon.Ballot{Approve: true, Digest: shown.Digest, Name: "owner", Password: testPassword})
	if err != nil {
		p.t.Fatal(err)
	}
	if moved.State == "pending_approval" || moved.State == "denied" {
		p.t.Fatalf("after the vote the action is %s", moved.State)
	}
}

// kill ends the daemon as a crash would, and waits until it is gone.
func (p *place) kill() {
	p.t.Helper()
	process, err := os.FindProcess(p.daemon().State.PID)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.eventually("the daemon is gone", func() bool {
		lock, err := daemon.TakeLock(p.home)
		return err == nil && lock.Free() == nil
	})
}

func (p *place) state(id string) string {
	p.t.Helper()
	d, err := p.daemon().Action(p.context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return d.State
}

// written returns the notes that the tool has written, one for each run.
func (p *place) written() []string {
	p.t.Helper()
	text, err := os.ReadFile(p.notes)
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	return strings.Fields(string(text))
}

func (p *place) eventually(what string, holds func() bool) {
	p.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return
		}
	}
	p.t.Fatalf("it never happened that %s", what)
}

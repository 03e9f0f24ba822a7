package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// agent is a real MCP client that starts "verbatim wrap" where it would have
// started the bank itself.
type agent struct{ session *mcp.ClientSession }

func startAgent(ctx context.Context, self string, home config.Home) (*agent, error) {
	cmd := exec.CommandContext(ctx, self, "wrap", "--server", "bank")
	cmd.Env = append(os.Environ(), config.HomeVariable+"="+string(home))
	log, err := os.OpenFile(home.Path("wrap.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	client := mcp.NewClient(&mcp.Implementation{Name: "demo-agent", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		said, readErr := os.ReadFile(home.Path("wrap.log"))
		return nil, errors.Join(fmt.Errorf("connect the agent: %w: %s", err, strings.TrimSpace(string(said))), readErr)
	}
	return &agent{session}, nil
}

func (a *agent) close() { _ = a.session.Close() } // the daemon keeps what matters

// proposal is one call that the agent makes, with the exact text of its
// arguments.
type proposal struct {
	tool, args    string
	key, approval string
}

// reply is what the agent gets back.
type reply struct {
	text     string // what the model reads
	status   string // ok where the bank answered
	code     string
	actionID string
	member   string
}

func (a *agent) call(ctx context.Context, p proposal) (reply, error) {
	meta := mcp.Meta{}
	if p.key != "" {
		meta[wire.MetaIdempotencyKey] = p.key
	}
	if p.approval != "" {
		meta[wire.MetaApproval] = p.approval
	}
	result, err := a.session.CallTool(ctx, &mcp.CallToolParams{Meta: meta, Name: p.tool, Arguments: json.RawMessage(p.args)})
	if err != nil {
		return reply{}, fmt.Errorf("call %s: %w", p.tool, err)
	}
	return readReply(result)
}

func readReply(result *mcp.CallToolResult) (reply, error) {
	r := reply{status: "ok", code: "ok"}
	for _, c := range result.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			r.text += t.Text
		}
	}
	if !result.IsError {
		return r, nil
	}
	text, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return r, err
	}
	v, err := canon.Decode(text, canon.Options{})
	if err != nil {
		return r, fmt.Errorf("read the answer: %w", err)
	}
	at := func(pointer string) string { found, _ := v.Lookup(pointer); return found.Text() }
	r.status, r.code = at("/status"), at("/code")
	r.actionID, r.member = at("/data/actionId"), at("/data/member")
	return r, nil
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/internal/attacktest"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/hub"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
	"github.com/seed-de4804fb/verbatim/verbatimtest"
)

const (
	attackedSchema = `{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer","default":3},"owner":{"type":"string"}},"required":["text"]}`
	attackedRules  = `
@id("plain") permit (principal, action in [Action::"up.read", Action::"up.note"], resource);
@id("paid") @decision("require_approval") @groups("owner:1") permit (principal, action == Action::"up.pay", resource);
@id("secret") @public_reason("Not on Mondays.") forbid (principal, action == Action::"up.secret", resource);
`
)

// attackedKinds is what the catalog says of each tool, in YAML.
var attackedKinds = map[string]string{
	"read":   "mutation: false, reason: test",
	"note":   "impact: ordinary, reason: test, identity: [{at: /owner, names: principal}]",
	"pay":    "impact: financial, identity: [{at: /owner, names: principal}]",
	"secret": "impact: ordinary, reason: test",
}

// attackedServer is an MCP server whose tools add what they were given to $RAN.
func attackedServer() {
	s := mcp.NewServer(&mcp.Implementation{Name: "up", Version: "1"}, nil)
	for name := range attackedKinds {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(attackedSchema)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if err := appendLine(os.Getenv("RAN"), name+" "+string(r.Params.Arguments)); err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
		})
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fatal(err)
	}
}

// attackedHome writes catalog and policy into the home of a place.
func attackedHome(p *place) {
	p.t.Helper()
	path, err := exec.LookPath("attack-mcp")
	if err != nil {
		p.t.Fatal(err)
	}
	from := hub.Server{Name: "up", Dial: hub.Child(gate.Command{Path: path, Env: p.env}, p.t.Output(), slog.New(slog.DiscardHandler))}
	tools, err := hub.Definitions(p.context(), from, "test")
	if err != nil || len(tools) != len(attackedKinds) {
		p.t.Fatalf("%d tools, %v", len(tools), err)
	}
	out := "version: \"1\"\ntools:\n"
	for _, tool := range tools {
		raw, err := json.Marshal(string(tool.Raw))
		if err != nil {
			p.t.Fatal(err)
		}
		out += fmt.Sprintf("  %q: {%s, definition: {sha256: %q, raw: %s}}\n", "up."+tool.Name, attackedKinds[tool.Name], tool.Digest.String(), raw)
	}
	if err := os.MkdirAll(p.home.Policy(), 0o700); err != nil {
		p.t.Fatal(err)
	}
	for file, text := range map[string]string{p.home.Catalog(): out, filepath.Join(p.home.Policy(), "attacks.cedar"): attackedRules} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

// attackedLibrary is a gate in this process under the catalog and the policy
// of a home.
func attackedLibrary(t *testing.T, p *place, principal string) attacktest.Entry {
	t.Helper()
	c, err := yamlfile.Load(p.home.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	engine, err := cedar.Load(map[string][]byte{"attacks.cedar": []byte(attackedRules)}, c.Tools(), cedar.Options{Groups: []string{"owner"}})
	if err != nil {
		t.Fatal(err)
	}
	var ran []string
	var tools []verbatim.Bound
	for _, tool := range c.Tools() {
		tools = append(tools, verbatim.Bound{Tool: tool, Handler: execute.HandlerFunc(func(_ context.Context, in execute.Input) (execute.Output, error) {
			ran = append(ran, strings.TrimPrefix(tool.Name, "up.")+" "+string(in.JSON()))
			return execute.Output{Bytes: []byte(`{"content":[]}`)}, nil
		})})
	}
	f := verbatimtest.New(t, verbatimtest.Config{Tools: tools, Policy: engine})
	err = f.Store.AddAccount(t.Context(), auth.Account{ID: "owner", Name: "owner", Key: auth.FoldName("owner"), Tenant: "acme", Principal: principal,
		PasswordHash: "none", Active: true, CreatedAt: f.Clock.Now(), PasswordAt: f.Clock.Now()})
	if err != nil {
		t.Fatal(err)
	}
	who := verbatim.Session{Tenant: "acme", Principal: principal, Owner: principal, Agent: "tester"}
	return attacktest.Entry{
		Propose: func(t testing.TB, s attacktest.Step) attacktest.Said {
			o, err := f.Gate.Call(t.Context(), who, verbatim.Call{Tool: s.Tool, Arguments: []byte(s.Text(t)), IdempotencyKey: s.Key, Approval: s.Approval})
			if err != nil {
				t.Error(err)
			}
			v, err := canon.Decode(o.Envelope(), canon.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return attacktest.Envelope(v)
		},
		Vote: func(t testing.TB, id string, approve bool) {
			if _, err := f.Vote(id, "owner", approve); err != nil {
				t.Fatal(err)
			}
		},
		Ran: func(testing.TB) []string { return ran },
		Rows: func(t testing.TB) int {
			n, filter := 0, action.Filter{Tenant: "acme"}
			for {
				found, err := f.Store.Actions(t.Context(), filter)
				if err != nil {
					t.Fatal(err)
				}
				if n += len(found); len(found) == 0 {
					return n
				}
				filter.Before = found[len(found)-1].ID
			}
		},
		Clean: func(t testing.TB) {
			open, err := f.Store.Actions(t.Context(), action.Filter{Tenant: "acme", States: []action.State{action.PendingApproval, action.Approved}})
			for _, a := range open {
				if _, err = f.Store.Dismiss(t.Context(), a.ID, a.Principal); err != nil {
					break
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	}
}

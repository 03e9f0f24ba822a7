package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/decode"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// callOptions are the flags of one call.
type callOptions struct {
	server, name, agent       string
	key, approval, supersedes string
	wait                      time.Duration
}

func callCommand(s streams) *cobra.Command {
	var o callOptions
	c := &cobra.Command{
		Use:   "call [flags] TOOL [JSON|-] [-- COMMAND [ARG...]]",
		Short: "Call one tool through the gateway, as an agent would",
		Long: "Call one tool through the daemon, as an MCP client would, and print its answer.\nTOOL is SERVER.TOOL of a server declared in verbatim.yaml; with a command after\n-- it is a tool of that server.\n\n" +
			"A call that needs approval ends with exit code 4 unless people decide within\n--wait; the same call again, or with --approval ID, runs it once approved.\n\n" +
			"Exit codes: 0 it ran, 1 it failed or its outcome is uncertain, 3 denied or\nrefused, 4 approval required.",
		Example: "  verbatim call files.read_text_file '{\"path\":\"/srv/files/a.txt\"}'\n" +
			"  verbatim call read_text_file '{\"path\":\"a.txt\"}' -- npx -y @modelcontextprotocol/server-filesystem .",
		RunE: func(cmd *cobra.Command, args []string) error {
			before, command := args, []string(nil)
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				before, command = args[:n], args[n:]
			}
			if len(before) < 1 || len(before) > 2 {
				return usage("call needs a tool and at most one JSON text before --")
			}
			return call(cmd, s, o, before, command)
		},
	}
	c.Flags().StringVar(&o.server, "server", "", "server of this name in the configuration (default: what TOOL begins with)")
	c.Flags().StringVar(&o.name, "name", "", "name of the server in the catalog (default: from the command)")
	c.Flags().StringVar(&o.agent, "agent", "", "name of the agent (default: of the configuration)")
	c.Flags().StringVar(&o.key, "key", "", "idempotency key")
	c.Flags().StringVar(&o.approval, "approval", "", "id of the approved action that this call is")
	c.Flags().StringVar(&o.supersedes, "supersedes", "", "id of an uncertain action that this call replaces")
	c.Flags().DurationVar(&o.wait, "wait", 0, "how long to wait for approval")
	return c
}

func call(cmd *cobra.Command, s streams, o callOptions, args, command []string) error {
	if o.wait < 0 {
		return usage("--wait must not be negative")
	}
	tool, hello, err := o.hello(args[0], command)
	if err != nil {
		return err
	}
	raw, absent, err := argument(s, args, 1)
	if err != nil {
		return err
	}
	if !absent {
		if raw, err = framed(raw); err != nil {
			return refuseInput(cmd, s, "json", hello.Server+"."+tool, err)
		}
	}
	done := slowly(s, "starting the server")
	client, a, err := attach(cmd.Context(), s, hello)
	done()
	var refused *daemon.Refusal
	if errors.As(err, &refused) {
		return notStarted(err, len(command) > 0)
	}
	if err != nil { // it is the daemon that did not start
		return err
	}
	defer a.Close()
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	noted := make(chan struct{})
	go func() {
		defer close(noted)
		_ = client.Notes(ctx, a, s.err) // messages are a courtesy
	}()
	stop := context.AfterFunc(ctx, func() { a.Close() })
	defer stop()
	peer, err := greetServer(a, a)
	if err != nil {
		lastWords(noted)
		return notStarted(err, len(command) > 0)
	}
	c := &caller{peer: peer, client: client, s: s, tool: tool, raw: raw, options: o}
	answer, err := c.settle(ctx)
	if err != nil {
		return err
	}
	return answer.print(cmd, s)
}

// notStarted says what to do where a server cannot be started.
func notStarted(err error, named bool) error {
	hint := "declare the server under servers in verbatim.yaml, or give its command after --"
	if named {
		hint = "try the command by itself"
	}
	return hinted(err, hint)
}

// hello says which server is meant, and the tool's name there.
func (o callOptions) hello(tool string, command []string) (string, daemon.Hello, error) {
	h := daemon.Hello{Server: o.server, Agent: o.agent, WaitMS: 1}
	switch {
	case len(command) > 0 && o.server != "":
		return "", h, usage("--server takes no command")
	case len(command) > 0:
		if h.Server = o.name; h.Server == "" {
			h.Server = serverName(command[0], command[1:])
		}
	case o.name != "":
		return "", h, usage("--name needs a command after --")
	case o.server == "":
		server, rest, ok := strings.Cut(tool, ".")
		if !ok || !config.ServerName.MatchString(server) {
			return "", h, usage("call needs SERVER.TOOL, --server NAME, or a command after --")
		}
		h.Server, tool = server, rest
	}
	return strings.TrimPrefix(tool, h.Server+"."), h, completeHello(&h, command)
}

// framed makes arguments one line, so that they fit into a frame. Only white
// space goes: names, numbers and strings stay as they were typed, and the
// gateway judges them. What is no JSON at all cannot be sent.
func framed(raw []byte) ([]byte, error) {
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		if _, err := decode.Arguments(raw, decode.Options{Known: func(string) bool { return true }}); err != nil {
			return nil, err
		}
		return nil, canon.Refuse("", "json", "one JSON object")
	}
	return line.Bytes(), nil
}

// caller is one call and, if it must wait, its repetition.
type caller struct {
	peer    *mcpClient
	client  *daemon.Client
	s       streams
	tool    string
	raw     []byte // nil: no arguments member
	options callOptions
}

// settle calls, and while the answer is that people must approve, waits for
// them and calls again.
func (c *caller) settle(ctx context.Context) (answered, error) {
	until := time.Now().Add(c.options.wait)
	answer, err := c.once(c.options.approval)
	if err != nil || answer.Status != statusWaits || c.options.wait == 0 || answer.ActionID == "" {
		return answer, err
	}
	fmt.Fprintf(c.s.err, "verbatim: waiting for approval of %s; decide at %s\n", plain(answer.ActionID), c.client.State.Page)
	for time.Now().Before(until) {
		select {
		case <-ctx.Done():
			return answer, nil
		case <-time.After(lookEvery):
		}
		found, err := c.client.Action(ctx, answer.ActionID)
		if err != nil {
			return answer, err
		}
		if found.State != string(action.PendingApproval) {
			return c.once(answer.ActionID)
		}
	}
	return answer, nil
}

// lookEvery is how often a waiting call looks for the decision.
const lookEvery = 300 * time.Millisecond

// once sends the call.
func (c *caller) once(approval string) (answered, error) {
	members := []canon.Member{}
	for _, m := range []struct{ name, value string }{
		{wire.MetaApproval, approval}, {wire.MetaIdempotencyKey, c.options.key}, {wire.MetaSupersedes, c.options.supersedes}} {
		if m.value != "" {
			members = append(members, canon.Member{Name: m.name, Value: canon.StringValue(m.value)})
		}
	}
	params := []byte(`{"name":`)
	params = append(params, canon.StringValue(c.tool).Canonical()...)
	if c.raw != nil {
		params = append(append(params, `,"arguments":`...), c.raw...)
	}
	if len(members) > 0 {
		params = append(append(params, `,"_meta":`...), canon.ObjectValue(members...).Canonical()...)
	}
	m, err := c.peer.ask("tools/call", append(params, '}'))
	if err != nil {
		return answered{}, err
	}
	return readAnswer(m)
}

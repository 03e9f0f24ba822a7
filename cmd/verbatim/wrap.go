package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func wrapCommand(s streams) *cobra.Command {
	var h daemon.Hello
	c := &cobra.Command{
		Use:   "wrap [flags] -- COMMAND [ARG...]",
		Short: "Put the gateway in front of an MCP server",
		Long:  "Put the gateway in front of an MCP server that speaks over standard input and\noutput. The client starts wrap instead of the server; nothing else changes.\n\nwrap is a thin pipe: the server runs below the daemon, which is started if none\nruns. Standard output carries MCP frames only; messages go to standard error.",
		Example: "  verbatim wrap -- npx -y @modelcontextprotocol/server-filesystem /srv/files\n" +
			"  verbatim wrap --server files          (declared in verbatim.yaml)",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := completeHello(&h, args); err != nil {
				return err
			}
			return wrap(cmd.Context(), s, h)
		},
	}
	c.Flags().StringVar(&h.Server, "name", "", "name of the server in the catalog (default: from the command)")
	c.Flags().StringVar(&h.Agent, "agent", "", "name of the agent (default: from the configuration)")
	c.Flags().String("server", "", "run the server of this name from the configuration")
	c.Flags().StringSliceVar(&h.Resources, "resources", nil, "a pattern of URIs that the client may read, such as 'file:///srv/**'; none without it")
	c.Flags().StringSliceVar(&h.Prompts, "prompts", nil, "a pattern of prompts that the client may get, such as '*'; none without it")
	c.Flags().BoolVar(&h.TrustReadHints, "trust-read-hints", false,
		"on first sight, catalogue tools that the server calls read-only as reads")
	c.PreRunE = func(cmd *cobra.Command, args []string) error {
		declared, err := cmd.Flags().GetString("server")
		switch {
		case err != nil:
			return err
		case declared != "" && (len(args) > 0 || h.Server != "" || h.Resources != nil || h.Prompts != nil):
			return usage("--server takes no command, no --name, and no patterns: the configuration has them")
		case declared == "" && len(args) == 0:
			return usage("wrap needs a command after --, or --server NAME")
		case declared != "":
			h.Server = declared
		}
		return nil
	}
	return c
}

// completeHello adds what the server inherits: command, environment and
// directory of this process.
func completeHello(h *daemon.Hello, args []string) error {
	if h.Server != "" && !config.ServerName.MatchString(h.Server) {
		return usage("a server's name has 1 to 40 of a-z, 0-9 and -")
	}
	for _, a := range args {
		if !utf8.ValidString(a) {
			return usage("the command must be valid UTF-8")
		}
	}
	if len(args) > 0 {
		h.Command, h.Args = args[0], args[1:]
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working directory: %w", err)
	}
	h.Dir = dir
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); !utf8.ValidString(pair) {
			return usage("the environment variable " + plain(name) + " is not valid UTF-8; unset it")
		}
	}
	h.Env = os.Environ()
	return nil
}

// wrap is the pipe between a client and the daemon.
func wrap(ctx context.Context, s streams, h daemon.Hello) error {
	client, a, err := attach(ctx, s, h)
	if err != nil {
		return err
	}
	defer a.Close()
	noted := make(chan struct{})
	go func() {
		defer close(noted)
		_ = client.Notes(ctx, a, s.err) // messages are a courtesy; frames go on without
	}()
	stop := context.AfterFunc(ctx, func() { a.Close() })
	defer stop()
	input := make(chan struct{})
	go func() {
		_, _ = io.Copy(a, s.in) // however the client's end closes, it closes
		close(input)
		_ = a.CloseWrite() // the other side may have gone first
	}()
	_, err = io.Copy(s.out, a)
	return howEnded(ctx, s, err, input, noted)
}

// notesWait is how long wrap waits for the last words of the server.
const notesWait = time.Second

// lastWords waits for what the server still has to say.
func lastWords(noted <-chan struct{}) {
	select {
	case <-noted:
	case <-time.After(notesWait):
	}
}

// howEnded says how the pipe ended: the client closing its end is the regular
// way.
func howEnded(ctx context.Context, s streams, err error, input <-chan struct{}, noted <-chan struct{}) error {
	select {
	case <-input:
		return nil
	default:
	}
	if ctx.Err() != nil {
		return nil
	}
	lastWords(noted)
	if err != nil {
		return hinted(fmt.Errorf("the connection to the daemon broke: %w", err), "what waits for approval is kept; start the client again")
	}
	return hinted(whoEnded(), "what waits for approval is kept; start the client again")
}

// whoEnded tells a server that ended from its daemon.
func whoEnded() error {
	home, err := config.FindHome()
	if err == nil {
		asking, cancel := context.WithTimeout(context.Background(), notesWait)
		defer cancel()
		_, err = daemon.Connect(asking, home)
	}
	if err != nil {
		return errors.New("the daemon has ended")
	}
	return errors.New("the server has ended")
}

// attachTries bounds how often a client asks again while a daemon is ending.
const attachTries = 150

// attach starts a server behind the gateway and connects to it; the daemon is
// started if none runs.
func attach(ctx context.Context, s streams, h daemon.Hello) (*daemon.Client, *daemon.Attachment, error) {
	for try := 1; ; try++ {
		client, err := connect(ctx, s)
		if err != nil {
			return nil, nil, err
		}
		a, err := client.Attach(ctx, h)
		var refused *daemon.Refusal
		ending := errors.Is(err, daemon.ErrNoDaemon) || errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable
		if !ending || try == attachTries {
			return client, a, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

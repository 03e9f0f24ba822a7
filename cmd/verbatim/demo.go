package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/demo"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

func demoCommand(s streams) *cobra.Command {
	var once bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Play a walk through approvals on this machine",
		Long:  "Play a story: a pretend bank, an agent that pays vendors, and a person who\napproves. Every outcome is compared with what it should be; if one differs, the\nexit code is 1. Nothing of yours is touched: everything lives in a directory of\nits own that is removed at the end.\n\nWithout --once it then stays, with the page open and one payment waiting for you.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if wantsJSON(cmd) && !once {
				return usage("--json needs --once")
			}
			return playDemo(cmd, s, once)
		},
	}
	c.Flags().BoolVar(&once, "once", false, "end after the story")
	return c
}

func playDemo(cmd *cobra.Command, s streams, once bool) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	out := s.out
	if wantsJSON(cmd) {
		out = s.err // the transcript is for people
	}
	paper := &demo.Paper{Out: out, Color: onTerminal(out) && os.Getenv("NO_COLOR") == "", Plain: plainJSON}
	err = demo.Run(cmd.Context(), demo.Config{Self: self, Once: once, Out: paper,
		List: func(ctx context.Context, command []string) ([]wire.Tool, error) { return listTools(ctx, s, command) }})
	if wantsJSON(cmd) && err == nil {
		return printJSON(s.out, struct {
			OK bool `json:"ok"`
		}{true})
	}
	return err
}

// demoBankCommand is the server that the demo starts. It is not for people.
func demoBankCommand() *cobra.Command {
	var ledger string
	c := &cobra.Command{
		Use:    "demo-bank",
		Short:  "The pretend bank of the demo",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ledger == "" {
				return usage("demo-bank needs --ledger FILE")
			}
			return demo.ServeBank(cmd.Context(), ledger)
		},
	}
	c.Flags().StringVar(&ledger, "ledger", "", "file of the ledger")
	return c
}

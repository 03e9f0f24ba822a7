package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func stopCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "End the daemon",
		Long:  "End the daemon of this user. It takes no calls any more and finishes the runs\nthat have begun. What waits for approval is kept. Clients lose their servers.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := config.FindHome()
			if err != nil {
				return err
			}
			client, err := daemon.Connect(cmd.Context(), home)
			if errors.Is(err, daemon.ErrNoDaemon) {
				return printStopped(cmd, s, false)
			}
			if err != nil {
				return err
			}
			if err := client.Stop(cmd.Context()); err != nil {
				return err
			}
			defer slowly(s, "waiting for runs to end")()
			for range time.Tick(20 * time.Millisecond) {
				if cmd.Context().Err() != nil {
					return cmd.Context().Err()
				}
				if lock, err := daemon.TakeLock(home); err == nil {
					return errors.Join(lock.Free(), printStopped(cmd, s, true))
				}
			}
			return nil
		},
	}
}

func printStopped(cmd *cobra.Command, s streams, was bool) error {
	if wantsJSON(cmd) {
		return printJSON(s.out, map[string]bool{"wasRunning": was})
	}
	text := "no daemon was running"
	if was {
		text = "the daemon has ended"
	}
	_, err := fmt.Fprintln(s.out, text)
	return err
}

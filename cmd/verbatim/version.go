package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func versionCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := daemon.ThisBuild()
			if wantsJSON(cmd) {
				return printJSON(s.out, map[string]string{"version": b.Version, "commitTime": b.Time, "go": runtime.Version()})
			}
			_, err := fmt.Fprintf(s.out, "verbatim %s (%s)\n", b.Version, runtime.Version())
			return err
		},
	}
}

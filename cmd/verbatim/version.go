package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build names this binary.
type build struct {
	Version string `json:"version"`
	Time    string `json:"time,omitempty"` // of the commit, for builds without a version
	Go      string `json:"go"`
}

func thisBuild() build {
	b := build{Version: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			b.Time = s.Value
		}
	}
	return b
}

func versionCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisBuild()
			if wantsJSON(cmd) {
				return printJSON(s.out, b)
			}
			_, err := fmt.Fprintf(s.out, "verbatim %s (%s)\n", b.Version, b.Go)
			return err
		},
	}
}

// Command verbatim stands between an agent and its tools: what was authorized
// is what runs, verbatim.
//
// In: a command line; for wrap also the MCP frames of one client on standard
// input. Out: results on standard output, words for people on standard error,
// and an exit code (see exit.go). One file per subcommand; the daemon is
// composed in compose.go.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return commandLine(ctx, os.Args[1:], terminalStreams())
}

// commandLine runs one command line and returns the exit code.
func commandLine(ctx context.Context, args []string, s streams) int {
	root := rootCommand(s)
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	cmd, err := root.ExecuteContextC(ctx)
	return report(s, cmd, err)
}

// subcommandsOnly refuses what is no subcommand, and says which is meant.
func subcommandsOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	e := &exitError{code: exitUsage, text: fmt.Sprintf("there is no command %s %s", cmd.CommandPath(), plainJSON(args[0]))}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		e.hint = "did you mean: " + cmd.CommandPath() + " " + near[0]
	}
	return e
}

// rootCommand lists every subcommand. One line adds one.
func rootCommand(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "verbatim",
		Short:         "What was authorized is what runs, verbatim.",
		Long:          "Verbatim stands between an agent and its tools: policy decides on exactly the\narguments that will run, people approve exactly that, and exactly that runs once.",
		Version:       daemon.ThisBuild().Version,
		SilenceErrors: true, SilenceUsage: true,
		Args: subcommandsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("verbatim {{.Version}} (" + runtime.Version() + ")\n")
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().Bool("json", false, "print one JSON document instead of text")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err.Error()) })
	root.AddCommand(
		setupCommand(s),
		peopleCommand(s),
		wrapCommand(s),
		serveCommand(s),
		stopCommand(s),
		openCommand(s),
		approvalsCommand(s),
		statusCommand(s),
		grantsCommand(s),
		freezeCommand(s),
		unfreezeCommand(s),
		auditCommand(s),
		witnessCommand(s),
		storeCommand(s),
		demoCommand(s),
		demoBankCommand(),
		callCommand(s),
		explainCommand(s),
		canonCommand(s),
		catalogCommand(s),
		policyCommand(s),
		versionCommand(s),
	)
	return root
}

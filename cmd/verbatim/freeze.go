package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func freezeCommand(s streams) *cobra.Command {
	var f daemon.Freezing
	c := &cobra.Command{
		Use:   "freeze",
		Short: "Stop an agent, a tool or everything, now",
		Long: "Stop an agent, a tool or, with neither, all of this home. Nothing that is frozen\nstarts any more, reads included, and nobody is asked to approve it. Runs that have\n" +
			"begun are not cut; the answer says how many there are.\n\nFreezing asks for nothing. Lifting it takes a person: verbatim unfreeze.",
		Example: "  verbatim freeze --tool bank.transfer --reason \"payee list is wrong\"",
		Args:    subcommandsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			frozen, err := client.Freeze(cmd.Context(), f)
			if err != nil {
				return refusedInput(err)
			}
			if wantsJSON(cmd) {
				return printJSON(s.out, frozen)
			}
			return printFrozen(s, f, frozen)
		},
	}
	whatIsFrozen(c, &f)
	c.Flags().StringVar(&f.Reason, "reason", "", "why; the record keeps it")
	c.AddCommand(freezeList(s))
	return c
}

// whatIsFrozen adds the flags that name a stop.
func whatIsFrozen(c *cobra.Command, f *daemon.Freezing) {
	c.Flags().StringVar(&f.Agent, "agent", "", "only this agent")
	c.Flags().StringVar(&f.Tool, "tool", "", "only this tool, by its catalog name")
	c.Flags().BoolVar(&f.Everything, "everything", false, "every tenant of the store, not this home's alone")
}

// whatWords says what a stop covers.
func whatWords(agent, tool, kind string) string {
	switch {
	case agent != "" && tool != "":
		return plain(tool) + " for agent " + plain(agent)
	case agent != "":
		return "agent " + plain(agent)
	case tool != "":
		return plain(tool)
	case kind == "everything":
		return "everything, of every tenant"
	default:
		return "everything"
	}
}

func printFrozen(s streams, f daemon.Freezing, frozen daemon.Frozen) error {
	if frozen.Unknown {
		fmt.Fprintln(s.err, "careful: neither the catalog nor an earlier listing knows this tool; names are server.tool")
	}
	running := "; nothing of it is running"
	switch {
	case frozen.Running == 1:
		running = "; 1 run that has begun is not cut"
	case frozen.Running > 1:
		running = fmt.Sprintf("; %d runs that have begun are not cut", frozen.Running)
	}
	_, err := fmt.Fprintf(s.out, "frozen: %s%s\n", whatWords(f.Agent, f.Tool, frozen.Kind), running)
	return err
}

func freezeList(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List what is frozen",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			stops, err := client.Stops(cmd.Context())
			if err != nil {
				return err
			}
			return printStops(cmd, s, stops)
		},
	}
}

func printStops(cmd *cobra.Command, s streams, stops daemon.Stops) error {
	if wantsJSON(cmd) {
		return printJSON(s.out, stops)
	}
	if len(stops.Stops) == 0 {
		_, err := fmt.Fprintln(s.out, "nothing is frozen")
		return err
	}
	rows := make([][]string, len(stops.Stops))
	for i, x := range stops.Stops {
		rows[i] = []string{whatWords(x.Agent, x.Tool, x.Kind), local(x.At), plain(x.By), plain(x.Reason)}
	}
	return safeTable(s.out, []string{"FROZEN", "SINCE", "BY", "WHY"}, rows)
}

func unfreezeCommand(s streams) *cobra.Command {
	var l daemon.Lifting
	c := &cobra.Command{
		Use:   "unfreeze",
		Short: "Lift a freeze",
		Long: "Lift a freeze, named as it was made. It asks for your own password, at a terminal\nonly. Where there are operators, one of them must lift it, or whoever froze it.\n" +
			"Approvals that are still good hold again.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			person, err := personAt(cmd.Context(), s, "unfreeze")
			if err != nil {
				return err
			}
			if strings.TrimSpace(l.Reason) == "" {
				return usage("say why: --reason TEXT")
			}
			return unfreeze(cmd, s, person, l)
		},
	}
	whatIsFrozen(c, &l.Freezing)
	c.Flags().StringVar(&l.Reason, "reason", "", "why; the record keeps it")
	c.Flags().StringVar(&l.Name, "as", "", "name of your account (default: asked for)")
	return c
}

func unfreeze(cmd *cobra.Command, s streams, person terminal, l daemon.Lifting) error {
	client, err := connect(cmd.Context(), s)
	if err != nil {
		return err
	}
	only, err := onlyPerson(cmd.Context(), client)
	if err != nil {
		return err
	}
	asked := l.Name
	var left daemon.Stops
	err = again(s, func() error {
		b := daemon.Ballot{Name: l.Name}
		if err := identify(person, "unfreeze", &b, asked, only); err != nil {
			return err
		}
		l.Name, l.Password = b.Name, b.Password
		left, err = client.Unfreeze(cmd.Context(), l)
		return err
	})
	if err != nil {
		return refusedInput(err)
	}
	return printStops(cmd, s, left)
}

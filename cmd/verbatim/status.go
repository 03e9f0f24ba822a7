package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func statusCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show what is open, what is frozen and what limits have left",
		Long: "Show how many actions are open, by state, and how old the oldest of each is; what\nis frozen; and the windows of limits. With --json for a program that watches:\n" +
			"docs/operations.md says what to be told about.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			o, err := client.Overview(cmd.Context())
			if err != nil {
				return err
			}
			if wantsJSON(cmd) {
				return printJSON(s.out, o)
			}
			return printOverview(cmd, s, o)
		},
	}
}

func printOverview(cmd *cobra.Command, s streams, o daemon.Overview) error {
	fmt.Fprintf(s.out, "page: %s\n", o.Page)
	if o.StoreBytes > 0 {
		fmt.Fprintf(s.out, "store: %.1f MiB\n", float64(o.StoreBytes)/(1<<20))
	}
	for _, text := range o.Mistakes {
		fmt.Fprintf(s.out, "not in use: %s\n", plain(text))
	}
	fmt.Fprintln(s.out)
	if len(o.Counts) == 0 {
		fmt.Fprintln(s.out, "nothing is open")
	}
	var rows [][]string
	for _, c := range o.Counts {
		rows = append(rows, []string{strings.ReplaceAll(c.State, "_", " "), strconv.Itoa(c.Number), age(c.Age)})
	}
	if err := tableOf(s, []string{"OPEN", "NUMBER", "OLDEST"}, rows); err != nil {
		return err
	}
	fmt.Fprintln(s.out)
	if err := printStops(cmd, s, daemon.Stops{Stops: o.Stops}); err != nil {
		return err
	}
	rows = nil
	for _, w := range o.Windows {
		rows = append(rows, []string{w.Limit, w.Window, plainJSON(w.Scope), strings.TrimSpace(fmt.Sprintf("%d of %d %s", w.Posted, w.Most, w.Currency)),
			strconv.FormatInt(w.Reserved, 10), local(w.Ends)})
	}
	if len(rows) > 0 {
		fmt.Fprintln(s.out)
	}
	if err := printOrphans(s, o); err != nil {
		return err
	}
	if err := printLags(s, o); err != nil {
		return err
	}
	return tableOf(s, []string{"LIMIT", "WINDOW", "FOR", "TAKEN", "HELD", "ENDS"}, rows)
}

// tableOf prints a table unless it has no rows.
func tableOf(s streams, heading []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	return safeTable(s.out, heading, rows)
}

// age words a number of seconds as people do.
func age(seconds int64) string {
	d := time.Duration(seconds) * time.Second
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	}
	return d.String()
}

// printOrphans says which passkeys the page's origin has left behind.
func printOrphans(s streams, o daemon.Overview) error {
	if len(o.Orphans) == 0 {
		return nil
	}
	fmt.Fprintln(s.out, "passkeys that are of no use at", o.Page+":")
	var rows [][]string
	for _, p := range o.Orphans {
		rows = append(rows, []string{plain(p.Account), plain(p.Passkey), plain(p.Host)})
	}
	err := tableOf(s, []string{"ACCOUNT", "PASSKEY", "MADE FOR"}, rows)
	fmt.Fprintln(s.out)
	return err
}

// printLags says which sinks are behind, and which refuse.
func printLags(s streams, o daemon.Overview) error {
	var rows [][]string
	for _, l := range o.Sinks {
		state := "takes events"
		if l.Failing {
			state = "does not take events; they wait"
		}
		rows = append(rows, []string{l.Sink, strconv.FormatInt(l.Records, 10), age(l.Age), state})
	}
	if err := tableOf(s, []string{"SINK", "BEHIND", "OLDEST", "STATE"}, rows); err != nil || len(rows) == 0 {
		return err
	}
	fmt.Fprintln(s.out)
	return nil
}

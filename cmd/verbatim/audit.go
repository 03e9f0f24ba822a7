package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func auditCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "Read the record of what was decided and done",
		Args:  subcommandsOnly,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(auditList(s), auditShow(s), auditVerify(s), auditBundle(s), auditExport(s), auditErase(s), auditCheckpoint(s), auditKeys(s))
	return c
}

func auditList(s streams) *cobra.Command {
	var of, event string
	var limit int
	c := &cobra.Command{
		Use:   "list",
		Short: "List records, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			found, err := client.Records(cmd.Context(), of, event, limit, 0)
			if err != nil {
				return refusedInput(err)
			}
			if wantsJSON(cmd) {
				return printJSON(s.out, found)
			}
			people, err := client.Accounts(cmd.Context())
			if err != nil {
				return err
			}
			return printRecords(s.out, found, people)
		},
	}
	c.Flags().StringVar(&of, "action", "", "records of one action only")
	c.Flags().StringVar(&event, "event", "", "records of one event only")
	c.Flags().IntVar(&limit, "limit", 50, "at most this many, 1 to 1000")
	return c
}

// printRecords lists records. They name people by ids that never change; the
// names are for reading.
func printRecords(w io.Writer, found daemon.Records, people daemon.Accounts) error {
	if len(found.Records) == 0 {
		_, err := fmt.Fprintln(w, "no record")
		return err
	}
	names := map[string]string{}
	for _, a := range people.Accounts {
		names[a.ID] = a.Name
	}
	rows := make([][]string, len(found.Records))
	for i, r := range found.Records {
		by := r.By
		if name, known := names[by]; known {
			by = name
		}
		rows[i] = []string{strconv.FormatInt(r.Seq, 10), local(r.At), r.Event, by, r.Tool, r.Action, r.Code}
	}
	return table(w, []string{"SEQ", "AT", "EVENT", "BY", "TOOL", "ACTION", "CODE"}, rows)
}

func auditShow(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "show SEQ",
		Short: "Show one record",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			seq, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || seq < 1 {
				return usage("SEQ is the number of a record, as audit list shows it")
			}
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			found, err := client.Records(cmd.Context(), "", "", 1, seq+1)
			if err != nil {
				return refusedInput(err)
			}
			if len(found.Records) == 0 || found.Records[0].Seq != seq {
				return &exitError{code: exitDenied, text: "there is no such record"}
			}
			if wantsJSON(cmd) {
				return printJSON(s.out, found.Records[0])
			}
			return printRecord(s.out, found.Records[0])
		},
	}
}

func printRecord(w io.Writer, r daemon.Record) error {
	lines := [][2]string{{"seq", strconv.FormatInt(r.Seq, 10)}, {"at", local(r.At)}, {"event", r.Event}, {"action", r.Action},
		{"tool", r.Tool}, {"agent", r.Agent}, {"by", r.By}, {"from", r.From}, {"to", r.To}, {"code", r.Code}}
	for _, group := range []struct {
		name string
		m    map[string]string
	}{{"fact", r.Facts}, {"commitment", r.Commitments}} {
		for _, k := range slices.Sorted(maps.Keys(group.m)) {
			lines = append(lines, [2]string{group.name, k + " = " + group.m[k]})
		}
	}
	for _, l := range lines {
		if l[1] != "" {
			fmt.Fprintf(w, "%-11s %s\n", l[0], plainJSON(l[1]))
		}
	}
	return nil
}

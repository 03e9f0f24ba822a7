package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func approvalsCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "approvals",
		Short: "List, show and decide on what waits for people",
		Args:  subcommandsOnly,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(approvalsList(s), approvalsShow(s), approvalsExport(s), approvalsVerify(s))
	for _, d := range decisions() {
		c.AddCommand(decisionCommand(s, d))
	}
	return c
}

func approvalsList(s streams) *cobra.Command {
	var state string
	var limit int
	c := &cobra.Command{
		Use:   "list",
		Short: "List actions, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			list, err := client.Actions(cmd.Context(), state, limit)
			if err != nil {
				return refusedInput(err)
			}
			if wantsJSON(cmd) {
				return printJSON(s.out, list)
			}
			return printList(s, list, state)
		},
	}
	c.Flags().StringVar(&state, "state", "pending", "pending, open, all, or one state such as succeeded")
	c.Flags().IntVar(&limit, "limit", 100, "at most this many, 1 to 1000")
	return c
}

func printList(s streams, list daemon.List, state string) error {
	if len(list.Actions) == 0 {
		text := "no action"
		if state == "pending" {
			text = "nothing waits for approval"
		}
		_, err := fmt.Fprintln(s.out, text)
		return err
	}
	heading, rows := []string{"ACTION", "SINCE", "AGENT", "WHAT"}, make([][]string, len(list.Actions))
	for i, a := range list.Actions {
		rows[i] = []string{a.ID, local(a.CreatedAt), plain(a.Agent), a.Headline}
		if state != "pending" {
			rows[i] = slices.Insert(rows[i], 1, a.State)
		}
	}
	if state != "pending" {
		return safeTable(s.out, slices.Insert(heading, 1, "STATE"), rows)
	}
	if err := safeTable(s.out, heading, rows); err != nil {
		return err
	}
	if onTerminal(s.err) {
		fmt.Fprintln(s.err, "hint: look with verbatim approvals show ACTION, decide with approve or reject in place of show")
	}
	return nil
}

// local shows a time as the clock on the wall does.
func local(stamp string) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return stamp
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

func approvalsShow(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "show ACTION",
		Short: "Show one action with exactly what will run",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			d, err := client.Action(cmd.Context(), args[0])
			if err != nil {
				return refusedInput(err)
			}
			if wantsJSON(cmd) {
				return printJSON(s.out, d)
			}
			return printDetail(s.out, d)
		},
	}
}

// printDetail shows all that a person decides on. Headline and arguments come
// from the daemon as text that is safe for a terminal; the rest is made so
// here.
func printDetail(w io.Writer, d daemon.Detail) error {
	facts := [][]string{
		{"action", d.ID}, {"state", d.State}, {"tool", d.Tool}, {"agent", d.Agent},
		{"for", d.Principal}, {"since", local(d.CreatedAt)}, {until(d.State), local(d.Deadline)},
		{"approvers", strings.Join(d.Who, "; ")}, {"decision", decisionText(d)},
		{"rules", strings.Join(d.Rules, ", ")}, {"policy", d.Policy}, {"proposal", d.ProposalHash}, {"approval", d.Digest},
	}
	for _, t := range d.Targets {
		facts = append(facts, []string{"target", t.Type + " " + t.ID})
	}
	for _, l := range d.Limits {
		facts = append(facts, []string{"limit", limitText(l)})
	}
	if d.LimitsUnclear {
		facts = append(facts, []string{"limit", "what limits leave for this cannot be said"})
	}
	for _, v := range d.Votes {
		facts = append(facts, []string{"vote", voteText(v)})
	}
	if d.Result != nil {
		facts = append(facts, []string{"result", strings.TrimSpace(d.Result.Code + " " + d.Result.Evidence + " " + d.Result.Detail)})
	}
	fmt.Fprintf(w, "%-12s %s\n", "what", d.Headline)
	for _, f := range facts {
		if f[1] != "" {
			fmt.Fprintf(w, "%-12s %s\n", f[0], plainJSON(f[1]))
		}
	}
	printRows(w, "arguments that will run", d.Arguments)
	printRows(w, "dry run", d.Preview)
	return nil
}

func limitText(l daemon.Limit) string {
	text := fmt.Sprintf("%s: takes %s; %s of %s left in this %s for %s", l.Name, l.Takes, l.Left, l.Most, l.Window, l.Scope)
	if l.Over {
		text += "; there is no room for it now, so if approved now it does not run"
	}
	return text
}

// until names a deadline: of waiting, or of an approval.
func until(state string) string {
	if action.State(state) == action.PendingApproval {
		return "waits until"
	}
	return "good until"
}

// decisionText is why things are as they are. The code is said where the
// reason does not say it.
func decisionText(d daemon.Detail) string {
	if d.Code == string(verbatim.CodeApprovalRequired) {
		return d.Reason
	}
	return d.Code + ": " + d.Reason
}

func voteText(v daemon.Vote) string {
	text := v.Voter + " rejected"
	if v.Approve {
		text = v.Voter + " approved"
	}
	if v.Reason != "" {
		text += ": " + v.Reason
	}
	return text + " (" + v.Method + ", " + local(v.At) + ")"
}

func printRows(w io.Writer, heading string, rows []daemon.Row) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", heading)
	for _, r := range rows {
		fmt.Fprintf(w, "  %s = %s\n", r.Name, r.Effective)
		if r.Requested != "" {
			fmt.Fprintf(w, "      requested: %s  (%s)\n", r.Requested, r.Change)
		}
		if r.Unusual {
			fmt.Fprintln(w, "      careful: it holds characters that are hidden or look like others")
		}
	}
}

package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func approvalsCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "approvals",
		Short: "List, show, approve and reject what waits for people",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(approvalsList(s), approvalsShow(s), approvalsVote(s, true), approvalsVote(s, false))
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
			return printList(s.out, list, state)
		},
	}
	c.Flags().StringVar(&state, "state", "pending", "pending, open, all, or one state such as succeeded")
	c.Flags().IntVar(&limit, "limit", 100, "at most this many, 1 to 1000")
	return c
}

func printList(w io.Writer, list daemon.List, state string) error {
	if len(list.Actions) == 0 {
		text := "no action"
		if state == "pending" {
			text = "nothing waits for approval"
		}
		_, err := fmt.Fprintln(w, text)
		return err
	}
	rows := make([][]string, len(list.Actions))
	for i, a := range list.Actions {
		rows[i] = []string{a.ID, a.State, plain(a.Tool), plain(a.Agent), local(a.CreatedAt), a.Headline}
	}
	return safeTable(w, []string{"ACTION", "STATE", "TOOL", "AGENT", "SINCE", "WHAT"}, rows)
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
		{"for", d.Principal}, {"since", local(d.CreatedAt)}, {"waits until", local(d.Deadline)},
		{"approvers", strings.Join(d.Who, "; ")}, {"decision", d.Code + ": " + d.Reason},
		{"rules", strings.Join(d.Rules, ", ")}, {"policy", d.Policy}, {"proposal", d.ProposalHash}, {"approval", d.Digest},
	}
	for _, t := range d.Targets {
		facts = append(facts, []string{"target", t.Type + " " + t.ID})
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
			fmt.Fprintf(w, "%-12s %s\n", f[0], plain(f[1]))
		}
	}
	printRows(w, "arguments that will run", d.Arguments)
	printRows(w, "dry run", d.Preview)
	return nil
}

func voteText(v daemon.Vote) string {
	text := v.Voter + " rejected: " + v.Reason
	if v.Approve {
		text = v.Voter + " approved"
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

func approvalsVote(s streams, approve bool) *cobra.Command {
	var reason, name string
	word, short := "approve", "Approve exactly one action"
	if !approve {
		word, short = "reject", "Reject one action"
	}
	c := &cobra.Command{
		Use:   word + " ACTION",
		Short: short,
		Long:  short + ".\n\nIt shows the action and asks for your own password, at a terminal only: an agent\nthat runs as you holds your flags, files, pipes and environment, but not that.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			person, err := personAt(s, "approvals "+word)
			if err != nil {
				return err
			}
			if !approve && strings.TrimSpace(reason) == "" {
				return usage("say why: --reason TEXT")
			}
			return vote(cmd, s, person, args[0], daemon.Ballot{Approve: approve, Reason: reason, Name: name})
		},
	}
	c.Flags().StringVar(&name, "as", "", "name of your account (default: asked for)")
	if !approve {
		c.Flags().StringVar(&reason, "reason", "", "why; the record keeps it")
	}
	return c
}

// vote shows the action and takes a person's answer to exactly that.
func vote(cmd *cobra.Command, s streams, person terminal, id string, b daemon.Ballot) error {
	client, err := connect(cmd.Context(), s)
	if err != nil {
		return err
	}
	d, err := client.Action(cmd.Context(), id)
	if err != nil {
		return refusedInput(err)
	}
	if d.WhyNot != "" && (b.Approve || d.Digest == "") {
		return &exitError{code: exitDenied, text: d.WhyNot}
	}
	if err := printDetail(s.err, d); err != nil {
		return err
	}
	preset := b.Name
	if preset == "" {
		if preset, err = onlyPerson(cmd.Context(), client); err != nil {
			return err
		}
	}
	fmt.Fprintln(s.err)
	if b.Name == "" {
		if b.Name, err = person.line("Your name", preset); err != nil {
			return err
		}
	}
	if b.Password, err = person.secret("Your password, to " + map[bool]string{true: "approve", false: "reject"}[b.Approve]); err != nil {
		return err
	}
	b.Digest = d.Digest
	moved, err := client.Vote(cmd.Context(), id, b)
	if err != nil {
		return refusedInput(err)
	}
	if wantsJSON(cmd) {
		return printJSON(s.out, moved)
	}
	_, err = fmt.Fprintf(s.out, "%s is %s\n", moved.ID, strings.ReplaceAll(moved.State, "_", " "))
	return err
}

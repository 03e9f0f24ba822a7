package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

// decision is one thing that a person decides about an action, with their
// own password.
type decision struct {
	verb, short string
	reasoned    bool // it needs a reason in writing
	// ready says why it is not possible now, or "".
	ready func(d daemon.Detail) string
	send  func(ctx context.Context, c *daemon.Client, id string, b daemon.Ballot) (daemon.Detail, error)
}

func decisions() []decision {
	waits := func(d daemon.Detail) string {
		if d.State != "pending_approval" {
			return "the action is not waiting for anybody"
		}
		return ""
	}
	uncertain := func(d daemon.Detail) string {
		if d.State != "uncertain" {
			return "nothing about the action is uncertain"
		}
		return ""
	}
	vote := func(approve bool) func(context.Context, *daemon.Client, string, daemon.Ballot) (daemon.Detail, error) {
		return func(ctx context.Context, c *daemon.Client, id string, b daemon.Ballot) (daemon.Detail, error) {
			b.Approve = approve
			return c.Vote(ctx, id, b)
		}
	}
	settle := func(happened bool) func(context.Context, *daemon.Client, string, daemon.Ballot) (daemon.Detail, error) {
		return func(ctx context.Context, c *daemon.Client, id string, b daemon.Ballot) (daemon.Detail, error) {
			return c.Settle(ctx, id, daemon.Settlement{Happened: happened, Reason: b.Reason, Name: b.Name, Password: b.Password})
		}
	}
	return []decision{
		{"approve", "Approve exactly one action", false, func(d daemon.Detail) string { return d.WhyNot }, vote(true)},
		{"reject", "Reject one action", true, waits, vote(false)},
		{"revoke", "Withdraw an action that has not begun to run", true, func(daemon.Detail) string { return "" },
			func(ctx context.Context, c *daemon.Client, id string, b daemon.Ballot) (daemon.Detail, error) {
				return c.Revoke(ctx, id, daemon.Withdrawal{Reason: b.Reason, Name: b.Name, Password: b.Password})
			}},
		{"happened", "Settle an uncertain action: it took effect", true, uncertain, settle(true)},
		{"did-not-happen", "Settle an uncertain action: it took no effect", true, uncertain, settle(false)},
	}
}

func decisionCommand(s streams, what decision) *cobra.Command {
	var b daemon.Ballot
	c := &cobra.Command{
		Use:   what.verb + " ACTION",
		Short: what.short,
		Long: what.short + ".\n\nIt shows the action and asks for your own password, at a terminal only: an agent\n" +
			"that runs as you holds your flags, files, pipes and environment, but not that.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			person, err := personAt(cmd.Context(), s, "approvals "+what.verb)
			if err != nil {
				return err
			}
			if what.reasoned && strings.TrimSpace(b.Reason) == "" {
				return usage("say why: --reason TEXT")
			}
			return decide(cmd, s, person, args[0], what, b)
		},
	}
	c.Flags().StringVar(&b.Name, "as", "", "name of your account (default: asked for)")
	why := "a comment, if you have one; the record keeps it"
	if what.reasoned {
		why = "why; the record keeps it"
	}
	c.Flags().StringVar(&b.Reason, "reason", "", why)
	return c
}

// decide shows the action and takes a person's answer to exactly that.
func decide(cmd *cobra.Command, s streams, person terminal, id string, what decision, b daemon.Ballot) error {
	client, err := connect(cmd.Context(), s)
	if err != nil {
		return err
	}
	d, err := client.Action(cmd.Context(), id)
	if err != nil {
		return refusedInput(err)
	}
	if why := what.ready(d); why != "" {
		return &exitError{code: exitDenied, text: why}
	}
	if err := printDetail(s.err, d); err != nil {
		return err
	}
	fmt.Fprintln(s.err)
	only := b.Name
	if only == "" {
		if only, err = onlyPerson(cmd.Context(), client); err != nil {
			return err
		}
	}
	b.Digest = d.Digest
	asked := b.Name
	var moved daemon.Detail
	err = again(s, func() error {
		if err := identify(person, what.verb, &b, asked, only); err != nil {
			return err
		}
		moved, err = what.send(cmd.Context(), client, id, b)
		return err
	})
	if err != nil {
		return refusedInput(err)
	}
	if wantsJSON(cmd) {
		return printJSON(s.out, moved)
	}
	_, err = fmt.Fprintf(s.out, "%s is %s%s\n", moved.ID, strings.ReplaceAll(moved.State, "_", " "), whatNext(moved))
	return err
}

// whatNext says what an answer that was given leads to.
func whatNext(d daemon.Detail) string {
	switch action.State(d.State) {
	case action.Approved:
		if !d.CallerGone {
			return "; its caller waits, so it runs now"
		}
		return "; it runs when the agent makes the same call again, until " + local(d.Deadline)
	case action.PendingApproval:
		return "; more people must agree"
	default:
		return ""
	}
}

// identify asks who decides, and for the password that signs it. asked is the
// name that the command line gives, only the one that is likely.
func identify(person terminal, verb string, b *daemon.Ballot, asked, only string) (err error) {
	if asked == "" {
		if b.Name != "" {
			only = b.Name
		}
		if b.Name, err = person.line("Your name", only); err != nil {
			return err
		}
	}
	b.Password, err = person.secret("Your password, to " + verbWords[verb])
	return err
}

// verbWords say what a password is asked for.
var verbWords = map[string]string{"approve": "approve", "reject": "reject", "revoke": "revoke",
	"happened": "say that it happened", "did-not-happen": "say that it did not happen", "unfreeze": "lift the freeze"}

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func peopleCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "people",
		Short: "Invite people, manage them, and let them stand in for each other",
		Long:  "Invite people, change their groups, shut accounts out, and let one person decide\nwhile another is away. Each change asks for your own password at a terminal; who\nhas a passkey does it on the page, under People and Account.",
		Args:  subcommandsOnly,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(peopleListCommand(s))
	for _, what := range peopleChanges() {
		c.AddCommand(peopleChangeCommand(s, what))
	}
	return c
}

func peopleListCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List accounts, open invitations and delegations", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			people, err := client.People(cmd.Context())
			if err != nil {
				return err
			}
			if wantsJSON(cmd) {
				return printJSON(s.out, people)
			}
			return printPeople(s, people)
		},
	}
}

// peopleChange is one change of people as a command.
type peopleChange struct {
	do, argument, short string
	flags               func(c *cobra.Command, m *daemon.Managing)
	set                 func(m *daemon.Managing, argument string)
}

func peopleChanges() []peopleChange {
	person := func(m *daemon.Managing, argument string) { m.Person = argument }
	id := func(m *daemon.Managing, argument string) { m.ID = argument }
	groups := func(c *cobra.Command, m *daemon.Managing) {
		c.Flags().StringSliceVar(&m.Groups, "group", nil, "group that the account is in; may come again")
	}
	return []peopleChange{
		{"invite", "", "Make an invitation and print its code, once", func(c *cobra.Command, m *daemon.Managing) {
			groups(c, m)
			c.Flags().IntVar(&m.Hours, "hours", 72, "how long the code is good, 1 to 168")
		}, nil},
		{"withdraw", "INVITATION", "Withdraw an open invitation", nil, id},
		{"groups", "NAME", "Replace the groups of somebody else", groups, person},
		{"disable", "NAME", "Shut an account out", nil, person},
		{"enable", "NAME", "Let an account in again", nil, person},
		{"delegate", "NAME", "Let somebody decide in your place for a time", func(c *cobra.Command, m *daemon.Managing) {
			c.Flags().IntVar(&m.Starts, "starts", 0, "hours from now until it begins")
			c.Flags().IntVar(&m.Hours, "hours", 24, "how many hours it lasts, up to 2160")
			c.Flags().StringVar(&m.Reason, "reason", "", "why; required")
		}, person},
		{"undelegate", "DELEGATION", "End a delegation before its time", nil, id},
	}
}

func peopleChangeCommand(s streams, what peopleChange) *cobra.Command {
	var m daemon.Managing
	c := &cobra.Command{Use: strings.TrimSpace(what.do + " " + what.argument), Short: what.short, Args: cobra.NoArgs}
	if what.argument != "" {
		c.Args = cobra.ExactArgs(1)
	}
	if what.flags != nil {
		what.flags(c, &m)
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if what.set != nil {
			what.set(&m, args[0])
		}
		person, err := personAt(cmd.Context(), s, "people "+what.do)
		if err != nil {
			return err
		}
		return changePeople(cmd, s, person, what.do, m)
	}
	return c
}

func changePeople(cmd *cobra.Command, s streams, person terminal, do string, m daemon.Managing) error {
	client, err := connect(cmd.Context(), s)
	if err != nil {
		return err
	}
	if m.Name, err = onlyPerson(cmd.Context(), client); err != nil {
		return err
	}
	var after daemon.People
	err = again(s, func() error {
		if m.Name, m.Password, err = credentials(person, m.Name); err != nil {
			return err
		}
		after, err = client.Manage(cmd.Context(), do, m)
		return err
	})
	if err != nil {
		return refusedInput(err)
	}
	if wantsJSON(cmd) {
		return printJSON(s.out, after)
	}
	if after.Code != "" {
		_, err = fmt.Fprintf(s.out, "code: %s\nIt is shown once. Whoever has it makes one account, at %s\n", after.Code, after.Join)
		return err
	}
	return printPeople(s, after)
}

func printPeople(s streams, p daemon.People) error {
	var rows [][]string
	for _, a := range p.Accounts {
		state := "active"
		if !a.Active {
			state = "shut out"
		}
		rows = append(rows, []string{a.Name, state, strings.Join(a.Groups, ", "), a.Principal})
	}
	if len(rows) == 0 {
		fmt.Fprintln(s.out, "there is nobody; make an account in a terminal: verbatim setup")
	}
	if err := tableOf(s, []string{"NAME", "STATE", "GROUPS", "AGENTS RUN AS"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, i := range p.Invitations {
		rows = append(rows, []string{i.ID, i.By, strings.Join(i.Groups, ", "), local(i.Expires)})
	}
	if err := tableOf(s, []string{"INVITATION", "BY", "INTO", "ENDS"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, d := range p.Delegations {
		rows = append(rows, []string{d.ID, d.By, d.For, local(d.Starts), local(d.Ends), d.Reason})
	}
	return tableOf(s, []string{"DELEGATION", "DECIDES", "FOR", "FROM", "UNTIL", "WHY"}, rows)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func setupCommand(s streams) *cobra.Command {
	var n daemon.NewAccount
	c := &cobra.Command{
		Use:   "setup",
		Short: "Make the account that approves",
		Long:  "Make an account that may approve. The first one is the owner of the agent\nsessions of this machine's user. A later one needs the password of an account\nthat exists.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			person, err := personAt(cmd.Context(), s, "setup")
			if err != nil {
				return err
			}
			return setup(cmd, s, person, n)
		},
	}
	c.Flags().StringVar(&n.Name, "name", "", "name of the account (default: the user of this machine)")
	c.Flags().StringSliceVar(&n.Groups, "group", nil, "group of approvers that the account is in; may come again")
	return c
}

func setup(cmd *cobra.Command, s streams, person terminal, n daemon.NewAccount) error {
	client, err := connect(cmd.Context(), s)
	if err != nil {
		return err
	}
	accounts, err := client.Accounts(cmd.Context())
	if err != nil {
		return err
	}
	first := len(accounts.Accounts) == 0
	if !first {
		fmt.Fprintln(s.err, "An account exists already. Another one is made by somebody who has one.")
	}
	asked := n.Name
	var made daemon.Account
	err = again(s, func() error {
		if !first {
			if n.By, n.ByPass, err = credentials(person, n.By); err != nil {
				return err
			}
		}
		if err = describe(person, &n, asked, first); err != nil {
			return err
		}
		made, err = client.AddAccount(cmd.Context(), n)
		return err
	})
	if err != nil {
		return refusedInput(err)
	}
	if wantsJSON(cmd) {
		return printJSON(s.out, made)
	}
	_, err = fmt.Fprintf(s.out, "%s may approve now, at %s or with: verbatim approvals\n", plain(made.Name), client.State.Page)
	return err
}

// describe asks for the new account's name and password. asked is the name
// that the command line gives, or "".
func describe(person terminal, n *daemon.NewAccount, asked string, first bool) error {
	name, principal, err := localPrincipal()
	if err != nil {
		return err
	}
	if first { // later people are not the user of this machine
		n.Principal = principal
	} else {
		name = ""
	}
	if n.Name != "" {
		name = n.Name
	}
	if asked == "" {
		if n.Name, err = person.line("Name of the new account", name); err != nil {
			return err
		}
	}
	n.Password, err = newSecret(person)
	return err
}

// newSecret asks for a password twice, until both are the same.
func newSecret(person terminal) (string, error) {
	for n := 1; ; n++ {
		chosen, err := person.secret("New password (10 characters or 4 words at least)")
		if err != nil {
			return "", err
		}
		repeated, err := person.secret("The same again")
		if err != nil {
			return "", err
		}
		if repeated == chosen {
			return chosen, nil
		}
		if n == tries {
			return "", usage("the two passwords differ; nothing was made")
		}
		fmt.Fprintln(person.out, "the two passwords differ; try again, or end with Ctrl-C")
	}
}

// credentials asks who somebody is.
func credentials(person terminal, preset string) (name, password string, err error) {
	if name, err = person.line("Your name", preset); err != nil {
		return "", "", err
	}
	password, err = person.secret("Your password")
	return name, password, err
}

// refusedInput gives a refusal of the daemon the exit code that fits.
func refusedInput(err error) error {
	var refused *daemon.Refusal
	if errors.As(err, &refused) && refused.Status >= http.StatusBadRequest && refused.Status < http.StatusInternalServerError {
		return &exitError{code: exitDenied, text: refused.Text, err: err}
	}
	return err
}

// onlyPerson is the name of the single operator, or "".
func onlyPerson(ctx context.Context, c *daemon.Client) (string, error) {
	accounts, err := c.Accounts(ctx)
	if err != nil {
		return "", err
	}
	if len(accounts.Accounts) == 0 {
		return "", hinted(errors.New("nobody can approve yet"), "make an account in a terminal: verbatim setup")
	}
	if len(accounts.Accounts) == 1 {
		return accounts.Accounts[0].Name, nil
	}
	return "", nil
}

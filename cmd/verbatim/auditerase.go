package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func auditErase(s streams) *cobra.Command {
	var w daemon.Withdrawal
	c := &cobra.Command{
		Use:   "erase ACTION",
		Short: "Destroy the payload of an action that has ended, for good",
		Long: "Destroy what tells of the arguments of an action that has ended, the salts of its records, and the key that its payload was sealed\n" +
			"with: no copy opens any more, in earlier backups either. The records stay and the log still verifies. It asks for your own password,\n" +
			"at a terminal only; where there are operators, one of them must do it. There is no way back.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			person, err := personAt(cmd.Context(), s, "erase")
			if err != nil {
				return err
			}
			if strings.TrimSpace(w.Reason) == "" {
				return usage("say why: --reason TEXT")
			}
			return erase(cmd, s, person, args[0], w)
		},
	}
	c.Flags().StringVar(&w.Reason, "reason", "", "why; the record commits to it")
	c.Flags().StringVar(&w.Name, "as", "", "name of your account (default: asked for)")
	return c
}

func erase(cmd *cobra.Command, s streams, person terminal, id string, w daemon.Withdrawal) error {
	client, err := connect(cmd.Context(), s)
	if err != nil {
		return err
	}
	only, err := onlyPerson(cmd.Context(), client)
	if err != nil {
		return err
	}
	asked := w.Name
	var left daemon.Detail
	err = again(s, func() error {
		b := daemon.Ballot{Name: w.Name}
		if err := identify(person, "erase", &b, asked, only); err != nil {
			return err
		}
		w.Name, w.Password = b.Name, b.Password
		left, err = client.Erase(cmd.Context(), id, w)
		return err
	})
	if err != nil {
		return refusedInput(err)
	}
	if wantsJSON(cmd) {
		return printJSON(s.out, left)
	}
	_, err = fmt.Fprintf(s.out, "erased: action %s. Copies of the directory keys that were made before still open copies of the store that were made before.\n", plain(id))
	return err
}

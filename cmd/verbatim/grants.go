package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func grantsCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "grants",
		Short: "List and revoke standing grants",
		Long:  "List and revoke standing grants: calls that people have allowed in advance, for a while.\nThey are made on the page, from a proposal that waits.",
		Args:  subcommandsOnly,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(grantsList(s), grantsExport(s), grantsRevoke(s))
	return c
}

func grantsList(s streams) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use:   "list",
		Short: "List standing grants, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			found, err := client.Grants(cmd.Context(), limit)
			if err != nil {
				return refusedInput(err)
			}
			if wantsJSON(cmd) {
				return printJSON(s.out, found)
			}
			return printGrants(s.out, found.Grants)
		},
	}
	c.Flags().IntVar(&limit, "limit", 100, "at most this many, 1 to 1000")
	return c
}

func printGrants(w io.Writer, grants []daemon.Grant) error {
	if len(grants) == 0 {
		_, err := fmt.Fprintln(w, "there are no standing grants")
		return err
	}
	rows := make([][]string, len(grants))
	for i, g := range grants {
		rows[i] = []string{g.ID, strings.ReplaceAll(g.State, "_", " "), fmt.Sprintf("%d of %d", g.Uses, g.MaxUses), local(g.ExpiresAt), plain(g.Agent), plain(g.Tool)}
	}
	return safeTable(w, []string{"GRANT", "STATE", "USED", "UNTIL", "AGENT", "TOOL"}, rows)
}

func grantsExport(s streams) *cobra.Command {
	var to string
	var public bool
	c := &cobra.Command{
		Use:   "export GRANT",
		Short: "Write a standing grant with its signatures, for approvals verify",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			found, err := client.SignedGrant(cmd.Context(), args[0])
			if err != nil {
				return refusedInput(err)
			}
			text := found.Statement + "\n"
			if public {
				text = ""
			}
			for _, v := range found.Votes {
				if public && !strings.Contains(text, v.PublicKey) {
					text += v.PublicKey
				}
				if !public {
					text += v.Envelope + "\n"
				}
			}
			return writeNew(s.out, to, text)
		},
	}
	c.Flags().StringVarP(&to, "output", "o", "", "a new file; standard output without it")
	c.Flags().BoolVar(&public, "public-keys", false, "write the public keys of those signatures instead; compare them by another way")
	return c
}

func grantsRevoke(s streams) *cobra.Command {
	var as string
	c := &cobra.Command{
		Use:   "revoke GRANT",
		Short: "End a standing grant now",
		Long:  "End a standing grant: nothing begins under it any more, not even what it has approved already.\nIt asks for your own password, at a terminal only.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			person, err := personAt(cmd.Context(), s, "revoke")
			if err != nil {
				return err
			}
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			only, err := onlyPerson(cmd.Context(), client)
			if err != nil {
				return err
			}
			var g daemon.Grant
			err = again(s, func() error {
				b := daemon.Ballot{Name: as}
				if err := identify(person, "revoke", &b, as, only); err != nil {
					return err
				}
				g, err = client.RevokeGrant(cmd.Context(), args[0], daemon.GrantRevocation{Name: b.Name, Password: b.Password})
				return err
			})
			if err != nil {
				return refusedInput(err)
			}
			if wantsJSON(cmd) {
				return printJSON(s.out, g)
			}
			return printGrants(s.out, []daemon.Grant{g})
		},
	}
	c.Flags().StringVar(&as, "as", "", "name of your account (default: asked for)")
	return c
}

// statement takes the statement of a standing grant off the front of a file
// of signatures; nil where the file holds votes on an action. Signatures
// under a statement must be of its digest.
func statement(text []byte) (*action.StandingGrant, []byte, error) {
	line, rest, more := bytes.Cut(text, []byte("\n"))
	if !bytes.Contains(line, []byte(`"kind":"standing_grant"`)) {
		return nil, text, nil
	}
	g, err := approval.ParseStanding(line)
	if err == nil && (!more || len(rest) == 0) {
		err = errors.New("nobody has signed it")
	}
	if err == nil {
		err = approval.CheckStanding(g)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("line 1: %w", err)
	}
	return &g, rest, nil
}

// printStatement says what was signed. What its members may be stands in the
// file itself.
func printStatement(w io.Writer, g action.StandingGrant) error {
	_, err := fmt.Fprintf(w, "standing grant %s: at most %d calls of agent %s for %s to %s, until %s, under policy version %s\n",
		g.ID, g.MaxUses, plain(g.Agent), plain(g.Principal), plain(g.Tool), g.ExpiresAt.Format("2006-01-02T15:04:05Z07:00"), plain(g.PolicyVersion))
	return err
}

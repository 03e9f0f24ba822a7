package main

import (
	"fmt"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"
)

func openCommand(s streams) *cobra.Command {
	var printOnly bool
	c := &cobra.Command{
		Use:   "open",
		Short: "Open the approvers' page in a browser",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			page := client.State.Page
			switch {
			case wantsJSON(cmd):
				return printJSON(s.out, map[string]string{"page": page})
			case printOnly:
				_, err = fmt.Fprintln(s.out, page)
				return err
			}
			if err := browse(page); err != nil {
				return hinted(fmt.Errorf("no browser could be started: %w", err), "open "+page+" yourself")
			}
			_, err = fmt.Fprintln(s.out, "opened", page)
			return err
		},
	}
	c.Flags().BoolVar(&printOnly, "print", false, "print the address and open nothing")
	return c
}

// browse asks the desktop to show an address.
func browse(address string) error {
	switch runtime.GOOS {
	case "darwin":
		return exec.Command("open", address).Run()
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", address).Run()
	default:
		return exec.Command("xdg-open", address).Run()
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/web/display"
)

// wantsJSON reports whether --json was given.
func wantsJSON(cmd *cobra.Command) bool {
	on, err := cmd.Flags().GetBool("json")
	return err == nil && on
}

// printJSON prints one indented JSON document. HTML characters stay as they
// are: the output is not for a browser.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// table prints rows under a heading, in columns.
func table(w io.Writer, heading []string, rows [][]string) error {
	for _, r := range rows {
		for i := range r {
			r[i] = plain(r[i])
		}
	}
	return safeTable(w, heading, rows)
}

// safeTable prints rows whose texts are safe for a terminal already.
func safeTable(w io.Writer, heading []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(heading, "\t"))
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	return t.Flush()
}

// plain makes text safe for a terminal: what people cannot see is shown as
// its code point, so that nothing can move the cursor or hide.
func plain(s string) string { return display.Plain(display.Text(s)) }

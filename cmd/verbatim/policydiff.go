package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/policy/replay"
)

func printReplay(cmd *cobra.Command, s streams, doc replayed, limit int) error {
	if wantsJSON(cmd) {
		return printJSON(s.out, doc)
	}
	if err := printReplayed(s.out, doc.Since, doc.Report, limit); err != nil {
		return err
	}
	return printSurprise(s.out, doc)
}

// printReplayed tells what two policies decide otherwise.
func printReplayed(w io.Writer, since time.Time, doc replay.Report, limit int) error {
	c := doc.Counts
	fmt.Fprintf(w, "%d calls since %s\n", c.Calls, local(since.Format(time.RFC3339)))
	for _, line := range []struct {
		n    int
		what string
	}{
		{c.Same, "decided the same"}, {c.Rules, "decided the same, by other rules"}, {c.Flips, "decided otherwise"},
		{c.Terms, "need approval on other terms"}, {c.Runtime, "were denied by something other than policy"},
		{c.Unreplayable, "cannot be decided again" + whyText(doc.Why)},
	} {
		if line.n > 0 {
			fmt.Fprintf(w, "%6d %s\n", line.n, line.what)
		}
	}
	if err := printChanges(w, doc, limit); err != nil {
		return err
	}
	if err := printVoid(w, doc.Void, limit); err != nil {
		return err
	}
	if len(doc.Silent) > 0 {
		fmt.Fprintf(w, "\nrules that decided nothing: %s\n", plain(strings.Join(doc.Silent, ", ")))
	}
	return nil
}

func whyText(why []replay.Times) string {
	if len(why) == 0 {
		return ""
	}
	parts := make([]string, len(why))
	for i, w := range why {
		parts[i] = fmt.Sprintf("%d %s", w.Count, w.Name)
	}
	return ": " + strings.Join(parts, ", ")
}

func printChanges(w io.Writer, doc replay.Report, limit int) error {
	if len(doc.Changes) == 0 {
		return nil
	}
	rows := make([][]string, len(doc.ByRule))
	for i, g := range doc.ByRule {
		rows[i] = []string{fmt.Sprint(g.Count), answerText(g.Was), answerText(g.Is), strings.Join(g.Tools, ", ")}
	}
	fmt.Fprintln(w)
	if err := table(w, []string{"CALLS", "WAS", "WOULD BE", "TOOLS"}, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return printVerdicts(w, doc.Changes, limit)
}

// answerText is a decision with what determined it.
func answerText(a replay.Answer) string {
	text := a.Decision
	if len(a.Requirements) > 0 {
		text += " of " + strings.Join(a.Requirements, " and ")
	}
	if a.StepUp {
		text += " with step-up"
	}
	if a.TTL != "" {
		text += " for " + a.TTL
	}
	by := a.Rules
	if a.Code != "" {
		by = append([]string{a.Code}, by...)
	}
	if len(by) > 0 {
		text += " (" + strings.Join(by, ", ") + ")"
	}
	return text
}

func printVerdicts(w io.Writer, list []replay.Verdict, limit int) error {
	shown := list[:min(len(list), max(limit, 0))]
	rows := make([][]string, len(shown))
	for i, v := range shown {
		rows[i] = []string{local(v.At.Format(time.RFC3339)), v.Action, v.Tool, string(v.State), v.Was.Decision, v.Is.Decision,
			strings.Join(v.Is.Rules, ", ")}
	}
	if len(rows) > 0 {
		if err := table(w, []string{"AT", "ACTION", "TOOL", "STATE", "WAS", "WOULD BE", "BY"}, rows); err != nil {
			return err
		}
	}
	if left := len(list) - len(shown); left > 0 {
		fmt.Fprintf(w, "and %d more; --json lists all\n", left)
	}
	return nil
}

func printVoid(w io.Writer, void []replay.Verdict, limit int) error {
	if len(void) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nopen approvals that would be void, because the rules for their tool are other ones:")
	return printVerdicts(w, void, limit)
}

func printSurprise(w io.Writer, doc replayed) error {
	for _, e := range doc.Expected.Missed {
		fmt.Fprintf(w, "expected %s, and it came otherwise\n", expectedText(e))
	}
	for _, e := range doc.Expected.Idle {
		fmt.Fprintf(w, "note: expected %s, and there is none\n", expectedText(e))
	}
	_, err := fmt.Fprintf(w, "\n%d changes, %d unexpected\n", len(doc.Changes), len(doc.Expected.Unexpected))
	return err
}

func expectedText(e replay.Expected) string {
	text := e.From + " -> " + e.To
	if e.Count > 0 {
		text = fmt.Sprintf("%d %s", e.Count, text)
	}
	if e.Tool != "" {
		text += " of " + plain(e.Tool)
	}
	if e.Rule != "" {
		text += " by " + plain(e.Rule)
	}
	return text
}

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/replay"
	"github.com/seed-de4804fb/verbatim/policy/shadow"
)

func policyShadow(s streams, o *explainOptions) *cobra.Command {
	var r replayOptions
	c := &cobra.Command{
		Use:   "shadow",
		Short: "Tell what the candidate policy would have decided beside the live one",
		Long: "Tell what the candidate of the configuration (candidate: FILE) has said of the calls that the live policy decided, reads too: which it would\n" +
			"have decided otherwise and by which rules, and which it was not asked about. It reads files of this home and needs no daemon. The candidate\n" +
			"authorizes nothing.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return tellShadow(cmd, s, *o, r) },
	}
	c.Flags().StringVar(&r.since, "since", "30d", "leave out calls before: so long ago (90m, 12h, 30d) or an instant (2026-05-04T12:00:00Z)")
	c.Flags().StringVar(&r.tenant, "tenant", "", "calls of one tenant only")
	c.Flags().IntVar(&r.limit, "limit", 50, "list at most this many calls; --json lists all")
	return c
}

// shadowed is the JSON document of a shadow report.
type shadowed struct {
	Since     time.Time `json:"since"`
	Candidate string    `json:"candidate"` // of the configuration; "" for none
	Broken    int       `json:"broken"`    // lines that could not be read
	replay.Report
}

func tellShadow(cmd *cobra.Command, s streams, o explainOptions, r replayOptions) error {
	since, err := ago(r.since, time.Now())
	if err != nil {
		return err
	}
	home, cfg, err := configured("")
	if err != nil {
		return err
	}
	kept, err := shadow.Read(shadowDir(home), 0)
	if err != nil {
		return err
	}
	var engine policy.Engine // whose silent rules are named; without one, none are
	if cfg.Candidate != "" {
		if o.catalog == "" {
			o.catalog = cfg.Catalog
		}
		tools, err := loadCatalog(o.catalog)
		if err != nil {
			return err
		}
		if e, err := candidateEngine(cfg.Candidate, tools); err != nil {
			fmt.Fprintf(s.err, "verbatim: the candidate does not load: %s\n", plainJSON(err.Error()))
		} else {
			engine = e
		}
	}
	doc := shadowed{since, cfg.Candidate, kept.Broken, kept.Report(replay.Scope{Tenant: r.tenant, Since: since}, engine)}
	if wantsJSON(cmd) {
		return printJSON(s.out, doc)
	}
	return printShadow(s, doc, r.limit)
}

func printShadow(s streams, doc shadowed, limit int) error {
	if doc.Candidate == "" {
		fmt.Fprintln(s.err, "hint: no candidate is configured; set candidate: FILE in verbatim.yaml")
	}
	if err := printReplayed(s.out, doc.Since, doc.Report, limit); err != nil {
		return err
	}
	if doc.Broken > 0 {
		fmt.Fprintf(s.out, "%d lines could not be read\n", doc.Broken)
	}
	_, err := fmt.Fprintf(s.out, "\n%d changes\n", len(doc.Changes))
	return err
}

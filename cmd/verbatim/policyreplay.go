package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/policy/replay"
	"github.com/seed-de4804fb/verbatim/store/postgres"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// replayOptions are the flags of policy replay.
type replayOptions struct {
	since, until, tenant, expect string
	complete                     bool
	limit                        int
}

func policyReplay(s streams, o *explainOptions) *cobra.Command {
	var r replayOptions
	c := &cobra.Command{
		Use:   "replay --policy NEW",
		Short: "Decide recorded calls again under another policy, and tell what changes",
		Long: "Decide what is recorded in this home's store again, under the policy that --policy names, beside the daemon. Nothing runs and nothing is\n" +
			"written. It tells which calls would be decided otherwise and by which rules, which open approvals would be void, which rules decided\n" +
			"nothing, and which calls cannot be decided again, and why: what is not recorded is never guessed.\n\n" +
			"Exit code 1 if a decision, or the terms of an approval, change in a way that --expect FILE does not name, or a count in it is not met. docs/policy.md shows its form.",
		Example: "  verbatim policy replay --policy new.cedar --since 30d",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return replayPolicy(cmd, s, *o, r) },
	}
	c.Flags().StringVar(&r.since, "since", "30d", "leave out calls before: so long ago (90m, 12h, 30d) or an instant (2026-05-04T12:00:00Z)")
	c.Flags().StringVar(&r.until, "until", "", "leave out calls from then on, in the same forms")
	c.Flags().StringVar(&r.tenant, "tenant", "", "calls of one tenant only")
	c.Flags().StringVar(&r.expect, "expect", "", "file with the changes that are meant")
	c.Flags().BoolVar(&r.complete, "complete", false, "exit code 1 also where a call cannot be decided again")
	c.Flags().IntVar(&r.limit, "limit", 50, "list at most this many calls; --json lists all")
	return c
}

// replayed is the JSON document of a replay.
type replayed struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"`
	replay.Report
	Expected replay.Surprise `json:"expected"`
}

func replayPolicy(cmd *cobra.Command, s streams, o explainOptions, r replayOptions) error {
	now := time.Now()
	since, err := ago(r.since, now)
	if err != nil {
		return err
	}
	var until time.Time
	if r.until != "" {
		if until, err = ago(r.until, now); err != nil {
			return err
		}
	}
	expected, err := expectedChanges(r.expect)
	if err != nil {
		return err
	}
	known, err := o.known()
	if err != nil {
		return err
	}
	rows, done, err := openRows(cmd.Context())
	if err != nil {
		return storeError(err)
	}
	defer done()
	told, end := progress(s, "calls decided again")
	report, err := replay.Run(cmd.Context(), rows, known.candidate(), replay.Scope{Tenant: r.tenant, Since: since, Until: until, Progress: told})
	end()
	if err != nil {
		return err
	}
	doc := replayed{since, until, report, report.Against(expected)}
	if err := printReplay(cmd, s, doc, r.limit); err != nil {
		return err
	}
	if !doc.Expected.Clean() || r.complete && report.Counts.Unreplayable > 0 {
		return ended(exitFailure)
	}
	return nil
}

// candidate is the policy that was loaded, as one to decide recorded calls by.
func (k *offline) candidate() replay.Candidate {
	return replay.Candidate{Engine: k.engine.Current(), Tool: k.find, Approvers: ownerApproves(), NoRunContext: true}
}

// Both kinds of store can be replayed.
var (
	_ replay.Source = (*sqlite.LogReader)(nil)
	_ replay.Source = (*postgres.Store)(nil)
)

// openRows opens the rows of the home's store, beside its daemon.
func openRows(ctx context.Context) (replay.Source, func(), error) {
	l, err := openLog(ctx)
	if err != nil {
		return nil, nil, err
	}
	rows, ok := l.log.(replay.Source)
	if !ok {
		l.close()
		return nil, nil, errors.New("this store cannot list its rows")
	}
	return rows, l.close, nil
}

func expectedChanges(path string) ([]replay.Expected, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage("there is no file " + plain(path))
	}
	if err != nil {
		return nil, err
	}
	expected, err := replay.ParseExpected(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return expected, nil
}

// ago reads "30d", "12h", "90m" as so long before now, or an instant.
func ago(text string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= 36500 {
			return now.AddDate(0, 0, -n), nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, usage("a time is so long ago (90m, 12h, 30d) or an instant (2026-05-04T12:00:00Z)")
}

// progress tells a person at a terminal how far a long command is, on one
// line that end takes away again.
func progress(s streams, what string) (told func(done int), end func()) {
	if !onTerminal(s.err) {
		return nil, func() {}
	}
	const wipe = "\r\x1b[K"
	return func(done int) { fmt.Fprintf(s.err, "%s%d %s ...", wipe, done, what) }, func() { fmt.Fprint(s.err, wipe) }
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/policy/policytest"
)

func policyTest(s streams, o *explainOptions) *cobra.Command {
	var coverage int
	c := &cobra.Command{
		Use:   "test FILE...",
		Short: "Run suites of example calls with the decisions that are right",
		Long: "Decide every call of the suites and compare, and tell which rules decided no case. docs/policy.md shows the form of a suite.\n\n" +
			"Exit code 1 if a case fails, or if fewer rules decided a case than --coverage asks for.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if coverage < 0 || coverage > 100 {
				return usage("--coverage is a percentage, 0 to 100")
			}
			return testPolicy(cmd, s, *o, args, coverage)
		},
	}
	c.Flags().IntVar(&coverage, "coverage", 0, "exit code 1 if fewer percent of the rules decided a case")
	return c
}

// suiteResult is the JSON document of one case.
type suiteResult struct {
	File     string   `json:"file"`
	Name     string   `json:"name"`
	Passed   bool     `json:"passed"`
	Problem  string   `json:"problem,omitempty"`
	Decision string   `json:"decision"`
	Rules    []string `json:"rules"`
}

// suites is the JSON document of a test.
type suites struct {
	Cases    []suiteResult       `json:"cases"`
	Failed   int                 `json:"failed"`
	Coverage policytest.Coverage `json:"coverage"`
	Percent  int                 `json:"percent"` // of the rules decided a case
}

func testPolicy(cmd *cobra.Command, s streams, o explainOptions, paths []string, coverage int) error {
	parsed := make([][]policytest.Case, len(paths))
	for i, path := range paths {
		var err error
		if parsed[i], err = readSuite(path); err != nil {
			return err
		}
	}
	known, err := o.known()
	if err != nil {
		return err
	}
	doc := suites{Cases: []suiteResult{}}
	var all []policytest.Result
	for i, cases := range parsed {
		results := known.decideSuite(cmd.Context(), cases)
		all = append(all, results...)
		for _, r := range results {
			doc.Cases = append(doc.Cases, suiteResult{paths[i], r.Case.Name, r.Passed(), r.Problem, r.Decision.Effect.String(),
				append([]string{}, r.Decision.Rules...)})
			if !r.Passed() {
				doc.Failed++
			}
		}
	}
	doc.Coverage = policytest.Cover(known.engine.engine.Load().Rules(), all)
	doc.Percent = doc.Coverage.Percent()
	if err := printSuites(cmd, s, doc, coverage); err != nil {
		return err
	}
	if doc.Failed > 0 || doc.Percent < coverage {
		return ended(exitFailure)
	}
	return nil
}

func readSuite(path string) ([]policytest.Case, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage("there is no file " + plain(path))
	}
	if err != nil {
		return nil, err
	}
	cases, err := policytest.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("%s: a suite without a case tests nothing", path)
	}
	return cases, nil
}

func (k *offline) decideSuite(ctx context.Context, cases []policytest.Case) []policytest.Result {
	return policytest.Run(ctx, k.engine.Current(), k.catalog.Tools(), ownerApproves(), cases)
}

func printSuites(cmd *cobra.Command, s streams, doc suites, coverage int) error {
	if wantsJSON(cmd) {
		return printJSON(s.out, doc)
	}
	for _, r := range doc.Cases {
		if r.Passed {
			fmt.Fprintf(s.out, "ok    %s\n", plain(r.Name))
			continue
		}
		fmt.Fprintf(s.out, "FAIL  %s: %s\n", plain(r.Name), plain(r.Problem))
	}
	fired, silent := len(doc.Coverage.Fired), doc.Coverage.Silent
	fmt.Fprintf(s.out, "%d cases, %d failed; %d of %d rules decided one\n", len(doc.Cases), doc.Failed, fired, fired+len(silent))
	if len(silent) > 0 {
		fmt.Fprintf(s.out, "rules that decided no case: %s\n", plain(strings.Join(silent, ", ")))
	}
	if doc.Percent < coverage {
		fmt.Fprintf(s.out, "FAIL  %d %% of the rules are covered, %d %% are asked for\n", doc.Percent, coverage)
	}
	return nil
}

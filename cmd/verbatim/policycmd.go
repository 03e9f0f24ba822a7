package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/policy/cedar"
)

func policyCommand(s streams) *cobra.Command {
	var o explainOptions
	c := &cobra.Command{
		Use:   "policy",
		Short: "Check policies, test them with example calls, replay what was recorded",
		Args:  subcommandsOnly,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	c.PersistentFlags().StringVar(&o.catalog, "catalog", "", "catalog file (default: of the home's configuration)")
	c.PersistentFlags().StringVar(&o.policy, "policy", "", "policy file or directory (default: of the home's configuration)")
	check := &cobra.Command{
		Use:   "check",
		Short: "Load the policies for the catalog and tell what they cannot see",
		Long:  "Load the policies as the daemon does. What keeps them from loading is listed with\nfile, line and column, and the exit code is 1. Of policies that load, it tells\nwhich members they cannot see, which tools no permit reaches, and which rules\nare never satisfied.",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return checkPolicy(cmd, s, o) },
	}
	c.AddCommand(check, policyTest(s, &o), policyReplay(s, &o), policyShadow(s, &o))
	return c
}

// problem is one thing that keeps policies from loading.
type problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Rule    string `json:"rule,omitempty"`
	Message string `json:"message"`
}

// policyFinding is something that loads and that its author should know.
type policyFinding struct {
	Tool    string `json:"tool,omitempty"`
	Pointer string `json:"pointer,omitempty"`
	Rule    string `json:"rule,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// checked is the JSON document of a check.
type checked struct {
	Loads    bool            `json:"loads"`
	Builtin  bool            `json:"builtin"` // nobody has written one
	Files    []string        `json:"files"`
	Rules    []string        `json:"rules"`
	Tools    int             `json:"tools"`
	Problems []problem       `json:"problems"`
	Findings []policyFinding `json:"findings"`
}

func checkPolicy(cmd *cobra.Command, s streams, o explainOptions) error {
	k := &offline{agent: "policy check"}
	if err := o.fromHome(k); err != nil {
		return err
	}
	c, err := loadCatalog(o.catalog)
	if err != nil {
		return err
	}
	files, err := policyFiles(o.policy)
	if err != nil {
		return err
	}
	doc := checked{Files: slices.Sorted(maps.Keys(files)), Rules: []string{}, Tools: len(c.Tools()), Problems: []problem{}, Findings: []policyFinding{}}
	_, err = os.Stat(o.policy)
	doc.Builtin = errors.Is(err, fs.ErrNotExist)
	engine, err := cedar.Load(files, c.Tools(), cedar.Options{})
	var failed *cedar.LoadError
	switch {
	case errors.As(err, &failed):
		for _, p := range failed.Problems {
			doc.Problems = append(doc.Problems, problem{p.File, p.Line, p.Column, p.Rule, p.Message})
		}
	case err != nil:
		return err
	default:
		doc.Loads, doc.Rules = true, engine.Rules()
		for _, f := range engine.Findings() {
			doc.Findings = append(doc.Findings, policyFinding{f.Tool, f.Pointer, f.Rule, f.File, f.Line, f.Message})
		}
	}
	return printChecked(cmd, s, o, doc)
}

func printChecked(cmd *cobra.Command, s streams, o explainOptions, doc checked) error {
	if wantsJSON(cmd) {
		if err := printJSON(s.out, doc); err != nil {
			return err
		}
	} else {
		for _, p := range doc.Problems {
			fmt.Fprintf(s.out, "error: %s\n", plainJSON(cedar.Problem{File: p.File, Line: p.Line, Column: p.Column, Rule: p.Rule, Message: p.Message}.String()))
		}
		for _, f := range doc.Findings {
			fmt.Fprintf(s.out, "note: %s\n", plainJSON(cedar.Finding{Tool: f.Tool, Pointer: f.Pointer, Rule: f.Rule, File: f.File, Line: f.Line, Message: f.Message}.String()))
		}
		if doc.Loads {
			fmt.Fprintf(s.out, "%d rules for %d tools load\n", len(doc.Rules), doc.Tools)
			if doc.Builtin {
				fmt.Fprintf(s.err, "hint: this is the built-in policy; yours would be *.cedar files in %s\n", plain(o.policy))
			}
		}
	}
	if !doc.Loads {
		return ended(exitFailure)
	}
	return nil
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/decode"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// refused is the JSON document about input that was not accepted.
type refused struct {
	Status     string           `json:"status"` // always invalid_arguments
	Stage      string           `json:"stage"`
	Tool       string           `json:"toolName,omitempty"`
	Code       string           `json:"code"`
	Violations canon.Violations `json:"violations"`
}

// canonical is the JSON document about input that was accepted.
type canonical struct {
	Canonical    string `json:"canonicalJson"`
	SHA256       string `json:"sha256"`
	ProposalHash string `json:"proposalHash,omitempty"`
}

func canonCommand(s streams) *cobra.Command {
	var value, hash bool
	c := &cobra.Command{
		Use:   "canon [--value] [--hash AGENT TOOL]",
		Short: "Print the canonical form of JSON, or its proposal hash",
		Long: "Read JSON from standard input and print its RFC 8785 form. The arguments decoder\nreads it: one object, no name twice, no number that would change on its way.\n\n" +
			"With --hash, print the proposal hash of a call of TOOL by AGENT with these\narguments instead.",
		Example: "  echo '{\"b\":1.0,\"a\":2}' | verbatim canon\n  echo '{\"amount\":5}' | verbatim canon --hash a t",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case hash && (value || len(args) != 2):
				return usage("--hash needs an agent and a tool, and arguments, not --value")
			case !hash && len(args) != 0:
				return usage("canon reads standard input and takes no arguments without --hash")
			}
			raw, err := readAll(s.in)
			if err != nil {
				return err
			}
			return canonicalize(cmd, s, raw, value, args)
		},
	}
	c.Flags().BoolVar(&value, "value", false, "accept any JSON value, and round numbers as RFC 8785 prints them")
	c.Flags().BoolVar(&hash, "hash", false, "print the proposal hash of AGENT calling TOOL with these arguments")
	return c
}

// readAll reads input up to what any decoder accepts, and a byte more, so
// that the decoder can say that it is too long.
func readAll(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, canon.CeilingBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	return raw, nil
}

func canonicalize(cmd *cobra.Command, s streams, raw []byte, value bool, call []string) error {
	v, err := decodeInput(raw, value)
	if err != nil {
		return refuseInput(cmd, s, "json", "", err)
	}
	doc := canonical{Canonical: string(v.Canonical()), SHA256: canon.Sum(v.Canonical()).String()}
	if len(call) == 2 {
		frozen, err := snapshot.Freeze(v)
		if err != nil {
			return refuseInput(cmd, s, "snapshot", call[1], err)
		}
		doc.ProposalHash = snapshot.Propose(call[0], call[1], frozen).Hash.String()
	}
	if wantsJSON(cmd) {
		return printJSON(s.out, doc)
	}
	if doc.ProposalHash != "" {
		_, err = fmt.Fprintln(s.out, doc.ProposalHash)
		return err
	}
	// The exact bytes, so that they can be hashed; a line end is for people.
	text := doc.Canonical
	if onTerminal(s.out) {
		text += "\n"
	}
	_, err = io.WriteString(s.out, text)
	return err
}

func decodeInput(raw []byte, value bool) (canon.Value, error) {
	if value {
		return canon.Decode(raw, canon.Options{MaxBytes: canon.CeilingBytes})
	}
	// Whoever typed the names may see them in errors.
	return decode.Arguments(raw, decode.Options{Known: func(string) bool { return true }})
}

// refuseInput prints what is wrong with input, one line each, and ends with
// the exit code of a refusal.
func refuseInput(cmd *cobra.Command, s streams, stage, tool string, err error) error {
	var all canon.Violations
	if !errors.As(err, &all) {
		return err
	}
	return printRefused(cmd, s, refused{Status: "invalid_arguments", Stage: stage, Tool: tool, Code: "invalid_arguments", Violations: all})
}

func printRefused(cmd *cobra.Command, s streams, r refused) error {
	if wantsJSON(cmd) {
		if err := printJSON(s.out, r); err != nil {
			return err
		}
		return ended(exitDenied)
	}
	for _, v := range r.Violations {
		fmt.Fprintf(s.err, "refused at stage %s: %s\n", r.Stage, plain(v.String()))
	}
	return ended(exitDenied)
}

// argument reads the JSON of a command line: the text itself, or standard
// input for "-". absent reports that none was given.
func argument(s streams, args []string, at int) (raw []byte, absent bool, err error) {
	if len(args) <= at {
		return nil, true, nil
	}
	if args[at] != "-" {
		return []byte(args[at]), false, nil
	}
	if f, ok := s.in.(*os.File); ok && onTerminal(f) {
		fmt.Fprintln(s.err, "verbatim: reading the arguments from the terminal; end with Ctrl-D")
	}
	raw, err = readAll(s.in)
	return raw, false, err
}

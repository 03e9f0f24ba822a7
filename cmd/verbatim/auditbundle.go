package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

// signedWithin is how long a command waits for the log to sign the newest
// records, and how often it asks.
const (
	signedWithin = 5 * time.Second
	askAgain     = 100 * time.Millisecond
)

func auditBundle(s streams) *cobra.Command {
	var to string
	var payload bool
	c := &cobra.Command{
		Use:   "bundle ACTION",
		Short: "Write the evidence of one action, for audit verify",
		Long: "Write the evidence of one action: its records, a proof for each that it is in the log, the signed checkpoint and the votes. It\n" +
			"verifies on any machine. Arguments, preview and result are in it only with --payload; the internal reason never is.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			found, err := signedEvidence(cmd.Context(), client, args[0], payload)
			if err != nil {
				return refusedInput(err)
			}
			if found.Erased {
				fmt.Fprintln(s.err, "the arguments, preview and result of this action were erased; the bundle shows none of them")
			}
			return writeNew(s.out, to, found.Bundle+"\n")
		},
	}
	c.Flags().StringVarP(&to, "output", "o", "", "a new file; standard output without it")
	c.Flags().BoolVar(&payload, "payload", false, "with arguments, preview and result")
	return c
}

// signedEvidence waits until the log has signed what has just happened.
func signedEvidence(ctx context.Context, c *daemon.Client, id string, payload bool) (daemon.Evidence, error) {
	until := time.Now().Add(signedWithin)
	for {
		found, err := c.Evidence(ctx, id, payload)
		var no *daemon.Refusal
		if err == nil || !errors.As(err, &no) || no.Status != http.StatusConflict || time.Now().After(until) {
			return found, err
		}
		select {
		case <-ctx.Done():
			return found, ctx.Err()
		case <-time.After(askAgain):
		}
	}
}

// checkedFiles are the receipts and bundles of some files, all of which hold.
type checkedFiles struct {
	Receipts []checkedReceipt `json:"receipts"`
	Bundles  []audit.Evidence `json:"bundles"`
}

type checkedReceipt struct {
	File    string    `json:"file"`
	Log     string    `json:"log"`
	Action  string    `json:"action"`
	Record  string    `json:"record"`
	Event   string    `json:"event"`
	State   string    `json:"state"`
	At      time.Time `json:"at"`
	Kept    string    `json:"kept"`
	InLog   bool      `json:"inLog"` // one of the bundles proves it
	Claim   string    `json:"claim"`
	receipt audit.Receipt
}

// verifyFiles checks receipts and bundles with nothing but keys.
func verifyFiles(cmd *cobra.Command, s streams, paths, keyFiles, checkpoints, witnesses []string) error {
	if len(keyFiles) == 0 {
		return usage("name the keys that you trust with --key; verbatim audit keys prints them, have them confirmed by another way")
	}
	trust, err := trustFiles(keyFiles)
	if err != nil {
		return err
	}
	if isDirectory(paths[0]) && len(paths) == 1 {
		return verifyExported(cmd, s, paths[0], trust, checkpoints, witnesses)
	}
	var c checkedFiles
	for _, path := range paths {
		text, err := readUpTo(path, audit.MaxBundle+1)
		if err != nil {
			return err
		}
		if err := c.add(path, text, trust); err != nil {
			return &exitError{code: exitDenied, text: path + ": " + err.Error(), err: err}
		}
	}
	if err := c.match(); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return printJSON(s.out, c)
	}
	return c.print(s)
}

// add checks one file: a receipt or a bundle, with at most one line end.
func (c *checkedFiles) add(path string, text []byte, trust audit.Trust) error {
	if n := len(text); n > 0 && text[n-1] == '\n' {
		text = text[:n-1]
	}
	b, err := audit.ParseBundle(text)
	if err == nil {
		e, err := audit.VerifyBundle(b, trust)
		c.Bundles = append(c.Bundles, e)
		return err
	}
	r, noReceipt := trust.OpenReceipt(text)
	if noReceipt != nil {
		return fmt.Errorf("neither a bundle (%w) nor a receipt (%w)", err, noReceipt)
	}
	c.Receipts = append(c.Receipts, checkedReceipt{File: path, Log: r.Log, Action: r.Action, Record: r.Record, Event: r.Event,
		State: r.State, At: r.At, Kept: r.Kept, Claim: audit.ReceiptClaim, receipt: r})
	return nil
}

// match looks for each promise in the bundles of its action. A bundle of the
// same action that lacks it shows a broken promise.
func (c *checkedFiles) match() error {
	for i := range c.Receipts {
		r := &c.Receipts[i]
		for _, e := range c.Bundles {
			if e.Action != r.Action || e.Log != r.Log {
				continue
			}
			if !e.Holds(r.receipt) {
				return &exitError{code: exitDenied, text: r.File + ": the bundle of its action does not hold what the receipt promises"}
			}
			r.InLog = true
		}
	}
	return nil
}

func (c checkedFiles) print(s streams) error {
	for _, r := range c.Receipts {
		what := "promised to be in the log; no bundle was given that proves it"
		if r.InLog {
			what = "promised, and in the log"
		}
		fmt.Fprintf(s.out, "receipt %s: %s of action %s, %s, kept: %s\n  %s\n  %s\n", plain(r.File), plain(r.Event), plain(r.Action),
			local(r.At.Format(time.RFC3339)), plain(r.Kept), what, r.Claim)
	}
	for _, e := range c.Bundles {
		if err := printEvidence(s, e); err != nil {
			return err
		}
	}
	return nil
}

func printEvidence(s streams, e audit.Evidence) error {
	fmt.Fprintf(s.out, "action %s in log %s, up to record %d%s\n", plain(e.Action), plain(e.Log), e.Size,
		signers(audit.Outer{ByLog: e.ByLog, Witnesses: e.Witnesses}))
	rows := make([][]string, len(e.Steps))
	for i, r := range e.Steps {
		rows[i] = []string{fmt.Sprint(r.Seq), local(r.At.Format(time.RFC3339)), r.Event, r.By, r.From, r.To, r.Code}
	}
	if err := table(s.out, []string{"SEQ", "AT", "EVENT", "BY", "FROM", "TO", "CODE"}, rows); err != nil {
		return err
	}
	for _, v := range e.Votes {
		by := "signed by a trusted key of the gateway, after a password"
		if v.Signer == "passkey" {
			by = "signed by a passkey, whose key is only what the vote claims; compare it with approvals verify --key"
		}
		fmt.Fprintf(s.out, "vote %s: %s\n", plain(v.Payload), by)
	}
	_, err := fmt.Fprintln(s.out, e.Claim)
	return err
}

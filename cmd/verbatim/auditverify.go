package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/internal/config"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/postgres"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

func auditVerify(s streams) *cobra.Command {
	var checkpoints, keyFiles, witnesses []string
	c := &cobra.Command{
		Use:   "verify [FILE... | DIRECTORY]",
		Short: "Check the whole log, or receipts and bundles in files",
		Long: "Read the whole log of this home, beside the daemon, and compare it with its tree, with what the log has signed, and with\n" +
			"checkpoints that were kept elsewhere. Only with one of those can it say that the log is complete: whoever holds the store and the log's\n" +
			"key can write another history that agrees with itself. Faults end with exit code 1, an empty log with 3.\n" +
			"With files, check those alone, without home, daemon and store: receipts, bundles of audit bundle, and whether the bundles hold what\n" +
			"the receipts promise; or the directory of audit export. That needs --key; what does not hold ends with 3.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return verifyFiles(cmd, s, args, keyFiles, checkpoints, witnesses)
			}
			l, err := openLog(cmd.Context())
			if err != nil {
				return storeError(err)
			}
			defer l.close()
			trust, err := l.trust(cmd.Context(), keyFiles)
			if err != nil {
				return err
			}
			outside, err := outsides(checkpoints)
			if err != nil {
				return err
			}
			origin, err := l.log.Origin(cmd.Context())
			if err != nil {
				return err
			}
			witnessed, err := witnessedOutsides(cmd.Context(), witnesses, origin, trust)
			if err != nil {
				return err
			}
			outside = append(outside, witnessed...)
			defer slowly(s, "reading the log")()
			r, err := audit.Verify(cmd.Context(), l.log, trust, outside...)
			return sayLog(cmd, s, r, err)
		},
	}
	c.Flags().StringArrayVar(&checkpoints, "checkpoint", nil, "file with a signed checkpoint that was kept elsewhere; may come again")
	c.Flags().StringArrayVar(&witnesses, "witness", nil, "URL of a witness to ask for the newest checkpoint that it has signed; may come again")
	c.Flags().StringArrayVar(&keyFiles, "key", nil, "file with public keys of logs and witnesses that you trust, one a line; without it the home's own key counts")
	return c
}

// outsides reads checkpoints that were kept in files.
func outsides(paths []string) ([]audit.Outside, error) {
	var out []audit.Outside
	for _, path := range paths {
		text, err := readBounded(path)
		if err != nil {
			return nil, err
		}
		out = append(out, audit.Outside{Name: path, Signed: text})
	}
	return out, nil
}

// sayLog prints what a check found. It says "complete" only where the report
// does.
func sayLog(cmd *cobra.Command, s streams, r audit.Report, err error) error {
	known := err == nil || errors.Is(err, audit.ErrFaults) || errors.Is(err, audit.ErrNothing)
	if !known {
		return err
	}
	if wantsJSON(cmd) {
		if e := printJSON(s.out, struct {
			audit.Report
			Claim string `json:"claim"`
		}{r, r.Claim()}); e != nil {
			return e
		}
	} else if e := printLog(s, r); e != nil {
		return e
	}
	switch {
	case errors.Is(err, audit.ErrFaults):
		return ended(exitFailure)
	case errors.Is(err, audit.ErrNothing):
		return ended(exitDenied)
	}
	return nil
}

func printLog(s streams, r audit.Report) error {
	rows := [][]string{{"origin", r.Origin}, {"records", fmt.Sprint(r.Records)}, {"root", r.Root}}
	if !r.LastAt.IsZero() {
		rows = append(rows, []string{"last record", local(r.LastAt.Format(time.RFC3339))})
	}
	if r.Waiting > 0 {
		rows = append(rows, []string{"not in the tree yet", fmt.Sprint(r.Waiting)})
	}
	rows = append(rows, []string{"signed by the log", fmt.Sprintf("up to record %d", r.Signed)})
	for _, o := range r.Outside {
		rows = append(rows, []string{"agrees with " + o.Name, fmt.Sprintf("up to record %d%s", o.Size, signers(o))})
	}
	for _, f := range r.Faults {
		rows = append(rows, []string{"FAULT", f})
	}
	if r.More > 0 {
		rows = append(rows, []string{"FAULT", fmt.Sprintf("and %d more", r.More)})
	}
	if err := table(s.out, []string{"LOG", ""}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(s.out, r.Claim())
	return err
}

func signers(o audit.Outer) string {
	var who []string
	if o.ByLog {
		who = append(who, "the log")
	}
	for name, at := range o.Witnesses {
		who = append(who, name+" at "+local(at.Format(time.RFC3339)))
	}
	return ", signed by " + strings.Join(who, " and ")
}

// openedLog is the log of a home, opened to read it.
type openedLog struct {
	log  audit.Log
	ring *keys.Ring
	done func() error
}

func (l openedLog) close() { _ = l.done() } // nothing was written

// openLog opens the log of the home, beside its daemon. It makes neither keys
// nor a store.
func openLog(ctx context.Context) (openedLog, error) {
	home, cfg, err := configured("")
	if err != nil {
		return openedLog{}, err
	}
	ring, err := existingRing(home)
	if err != nil {
		return openedLog{}, err
	}
	sealer, err := ring.Sealer()
	if err != nil {
		return openedLog{}, err
	}
	if cfg.Postgres == nil {
		l, err := sqlite.OpenLog(home.Store(), sqlite.Options{Sealer: sealer})
		if err != nil {
			return openedLog{}, storeError(err)
		}
		return openedLog{l, ring, l.Close}, nil
	}
	dsn, err := readSecret(ctx, cfg.Postgres.DSN)
	if err != nil {
		return openedLog{}, err
	}
	db, err := postgres.Open(ctx, postgres.Options{DSN: dsn, Sealer: sealer, Connections: 2})
	if err != nil {
		return openedLog{}, err
	}
	return openedLog{db, ring, db.Close}, nil
}

// logKeys are the public keys of the home's log, of its receipts and of votes
// made with a password, one a line, as a checker pins them.
func (l openedLog) logKeys(ctx context.Context) ([]string, error) {
	origin, err := l.log.Origin(ctx)
	if err != nil {
		return nil, err
	}
	if origin == "" {
		return nil, &exitError{code: exitDenied, text: "the log has no record and no name yet"}
	}
	return publicLogKeys(l.ring, origin)
}

func publicLogKeys(ring *keys.Ring, origin string) ([]string, error) {
	var out []string
	for _, of := range []struct {
		purpose keys.Purpose
		name    string
	}{{keys.Checkpoints, origin}, {keys.Receipts, audit.ReceiptName(origin)}, {keys.Votes, audit.VoteName(origin)}} {
		signer, err := ring.Signer(of.purpose)
		if err != nil {
			return nil, err
		}
		for _, key := range signer.Public() {
			text, err := audit.LogKey(of.name, key)
			if err != nil {
				return nil, err
			}
			out = append(out, text)
		}
	}
	return out, nil
}

// trust is the keys in files; without any, the home's own.
func (l openedLog) trust(ctx context.Context, files []string) (audit.Trust, error) {
	if len(files) > 0 {
		return trustFiles(files)
	}
	own, err := l.logKeys(ctx)
	if err != nil {
		return audit.Trust{}, err
	}
	return audit.NewTrust(own...)
}

// trustFiles reads files of public keys, one a line.
func trustFiles(files []string) (audit.Trust, error) {
	var all []string
	for _, path := range files {
		text, err := readBounded(path)
		if err != nil {
			return audit.Trust{}, err
		}
		before := len(all)
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
		if len(all) == before {
			return audit.Trust{}, usage(path + ": the file holds no key")
		}
		if _, err := audit.NewTrust(all...); err != nil {
			return audit.Trust{}, usage(path + ": " + err.Error())
		}
	}
	return audit.NewTrust(all...)
}

// existingRing opens the keys of a home and makes none: what is there has been
// made with them.
func existingRing(home config.Home) (*keys.Ring, error) {
	if _, err := os.Stat(home.Keys()); err != nil {
		return nil, hinted(fmt.Errorf("%s is not there", home.Keys()),
			"a store is of no use without the keys that it was made with; put them back first")
	}
	return keys.OpenRing(home.Keys())
}

func auditCheckpoint(s streams) *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   "checkpoint",
		Short: "Print the newest signed checkpoint of the log, to be kept elsewhere",
		Long: "Print the newest signed checkpoint of the log. Keep it where whoever can write this home cannot: audit verify --checkpoint\n" +
			"then says whether any record up to it was changed or removed.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := openLog(cmd.Context())
			if err != nil {
				return storeError(err)
			}
			defer l.close()
			signed, err := l.log.LatestCheckpoint(cmd.Context())
			if err != nil {
				return err
			}
			if signed == nil {
				return &exitError{code: exitDenied, text: "the log has no checkpoint yet", hint: "the daemon signs one within a second of the first record"}
			}
			return writeNew(s.out, to, string(signed))
		},
	}
	c.Flags().StringVarP(&to, "output", "o", "", "a new file; standard output without it")
	return c
}

// warrantKeys are the public keys of warrants, the current one first.
func (l openedLog) warrantKeys() ([]string, error) {
	signer, err := l.ring.Signer(keys.Warrants)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, key := range signer.Public() {
		out = append(out, hex.EncodeToString(key))
	}
	return out, nil
}

func auditKeys(s streams) *cobra.Command {
	var to string
	var warrants bool
	c := &cobra.Command{
		Use:   "keys",
		Short: "Print the public keys that the log, its receipts and votes by password are signed with",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := openLog(cmd.Context())
			if err != nil {
				return storeError(err)
			}
			defer l.close()
			own, err := l.logKeys(cmd.Context())
			if warrants {
				own, err = l.warrantKeys()
			}
			if err != nil {
				return err
			}
			return writeNew(s.out, to, strings.Join(own, "\n")+"\n")
		},
	}
	c.Flags().StringVarP(&to, "output", "o", "", "a new file; standard output without it")
	c.Flags().BoolVar(&warrants, "warrants", false, "print what executors trust instead: the keys that warrants are signed with, in hex, one a line")
	return c
}

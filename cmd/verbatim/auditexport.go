package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/audit"
)

func auditExport(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "export DIRECTORY",
		Short: "Write the signed log as static files, for audit verify and other checkers",
		Long: "Write the signed log to a new directory in the form of C2SP tlog-tiles: entries, tiles of hashes, and the checkpoint. It holds\n" +
			"no argument and no result, only salted commitments to them. audit verify DIRECTORY --key KEYS checks it on any machine.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := openLog(cmd.Context())
			if err != nil {
				return storeError(err)
			}
			defer l.close()
			if err := os.Mkdir(args[0], 0o700); err != nil {
				return err
			}
			defer slowly(s, "writing the log")()
			c, err := audit.Export(cmd.Context(), l.log, func(path string, content []byte) error {
				path = filepath.Join(args[0], filepath.FromSlash(path))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					return err
				}
				return os.WriteFile(path, content, 0o600)
			})
			if errors.Is(err, audit.ErrNothing) {
				return errors.Join(&exitError{code: exitDenied, text: "the log has no checkpoint yet"}, os.Remove(args[0]))
			}
			if err != nil {
				return err
			}
			if wantsJSON(cmd) {
				return printJSON(s.out, map[string]any{"origin": c.Origin, "records": c.Size, "root": c.Root})
			}
			_, err = fmt.Fprintf(s.out, "%d records of %s\n", c.Size, c.Origin)
			return err
		},
	}
}

// verifyExported checks a log that was exported to a directory.
func verifyExported(cmd *cobra.Command, s streams, dir string, trust audit.Trust, checkpoints, witnesses []string) error {
	outside, err := outsides(checkpoints)
	if err != nil {
		return err
	}
	l, err := audit.OpenExported(os.DirFS(dir))
	if err != nil {
		return &exitError{code: exitDenied, text: err.Error(), err: err}
	}
	origin, err := l.Origin(cmd.Context())
	if err != nil {
		return err
	}
	witnessed, err := witnessedOutsides(cmd.Context(), witnesses, origin, trust)
	if err != nil {
		return err
	}
	outside = append(outside, witnessed...)
	defer slowly(s, "reading the log")()
	r, err := audit.Verify(cmd.Context(), l, trust, outside...)
	return sayLog(cmd, s, r, err)
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

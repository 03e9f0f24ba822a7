package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
	"github.com/seed-de4804fb/verbatim/store/postgres"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

func storeCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "store",
		Short: "Check, back up and restore the store",
		Args:  subcommandsOnly,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(storeCheck(s), storeBackup(s), storeRestore(s), storeMigrate(s))
	return c
}

func storeCheck(s streams) *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Read the whole store, or a backup, and say what is wrong with it",
		Long: "Read the whole store, or a backup, and say what is wrong with it: the file, the\nschema, that every payload opens and is what was decided on, that records are\nwithout a gap and agree with the rows. " +
			"The daemon may go on. Faults end with exit\ncode 1." + ownerOnly,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := findStore(cmd.Context(), path)
			if err != nil {
				return err
			}
			file := ""
			if len(args) == 1 {
				file = args[0]
			}
			defer slowly(s, "reading the store")()
			r, err := at.check(cmd.Context(), file)
			if err != nil && !errors.Is(err, sqlite.ErrFaults) {
				return storeError(err)
			}
			return errors.Join(printReport(cmd, s, r), storeError(err))
		},
	}
	configFlag(c, &path)
	return c
}

// ownerOnly is what the commands say that read all of a shared store.
const ownerOnly = "\n\nWhere the configuration names a PostgreSQL database, its connection string must be\nthat of the tables' owner, who may make a schema for a moment."

func storeBackup(s streams) *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a checked copy of the store to a new file",
		Long: "Write a copy of the store, as it is at one moment, to a new file. The daemon may\ngo on. The copy is checked before it gets its name. It does not hold the keys:\ncopy the directory keys of the home once, " +
			"to another place than the backups." + ownerOnly,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := findStore(cmd.Context(), path)
			if err != nil {
				return err
			}
			defer slowly(s, "copying the store")()
			r, err := at.backup(cmd.Context(), args[0])
			if err != nil && !errors.Is(err, sqlite.ErrFaults) {
				return storeError(err)
			}
			if err == nil && len(r.Faults) > 0 { // it is of an earlier version
				fmt.Fprintln(s.err, "copied as it is, before its migration: its rows were not checked; only the program that wrote it restores it")
			}
			return errors.Join(printReport(cmd, s, r), storeError(err))
		},
	}
	configFlag(c, &path)
	return c
}

func storeRestore(s streams) *cobra.Command {
	var path, role string
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of the store",
		Long: "Put a backup in the place of the store; no daemon may use it. What happened\nafter the backup is unknown from then on: what the backup has open ends, policy\nversions move, logins end, and everything is frozen. " +
			"Before a person lifts that,\ncompare what the tools say they did since then. The store of before is kept." + ownerOnly +
			"\n--grant gives a role what a gateway needs; roles that had it keep it.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := findStore(cmd.Context(), path)
			if err != nil {
				return err
			}
			defer slowly(s, "putting the backup back")()
			r, err := at.restore(cmd.Context(), args[0], role)
			if err != nil {
				return storeError(err)
			}
			return printRestoration(cmd, s, r)
		},
	}
	configFlag(c, &path)
	c.Flags().StringVar(&role, "grant", "", "role of the database that gateways run under")
	return c
}

func configFlag(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "config", "", "configuration file (default verbatim.yaml in the home directory)")
}

func storeMigrate(s streams) *cobra.Command {
	var path, role string
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the store's schema up to this version",
		Long: "Bring the store's schema up to what this version knows; the daemon must not run.\nThe daemon does the same when it starts. There is no way back but a backup.\n" +
			"\nWhere the configuration names a PostgreSQL database, gateways may run. --grant then\ngives a role the rights that a gateway needs, and no others.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, to, err := migrateStore(cmd.Context(), path, role)
			if err != nil {
				return storeError(err)
			}
			if wantsJSON(cmd) {
				return printJSON(s.out, map[string]int{"from": from, "to": to})
			}
			if from == to {
				_, err = fmt.Fprintf(s.out, "nothing to do: the schema is of version %d\n", to)
				return err
			}
			_, err = fmt.Fprintf(s.out, "the schema went from version %d to %d\n", from, to)
			return err
		},
	}
	configFlag(c, &path)
	c.Flags().StringVar(&role, "grant", "", "role of the database that gateways run under")
	return c
}

func migrateStore(ctx context.Context, path, role string) (from, to int, err error) {
	_, cfg, err := configured(path)
	if err != nil {
		return 0, 0, err
	}
	if cfg.Postgres == nil {
		if role != "" {
			return 0, 0, errGrant
		}
		at, err := findStore(ctx, path)
		if err != nil {
			return 0, 0, err
		}
		return sqlite.Migrate(at.home.Store(), at.own)
	}
	dsn, err := readSecret(ctx, cfg.Postgres.DSN)
	if err != nil {
		return 0, 0, err
	}
	return postgres.Migrate(ctx, dsn, role)
}

const hintMigrate = "bring it up to date first: verbatim stop, then verbatim store migrate; the daemon does that by itself when it starts"

// storeError adds what to do about it.
func storeError(err error) error {
	switch {
	case errors.Is(err, sqlite.ErrOwned), errors.Is(err, daemon.ErrRunning):
		return hinted(err, "end the daemon first: verbatim stop")
	case errors.Is(err, sqlite.ErrEarlier):
		return hinted(err, hintMigrate)
	case errors.Is(err, sqlite.ErrFaults):
		return hinted(err, "do not go on with it; restore a backup that has no faults: verbatim store restore FILE")
	case errors.Is(err, postgres.ErrInUse):
		return hinted(err, "end every gateway of this database: verbatim stop at each; one that was killed counts as there for half a minute")
	case errors.Is(err, sqlite.ErrSealKey), errors.Is(err, postgres.ErrSealKey):
		return hinted(err, "put the directory keys back that belongs to it")
	default:
		return err
	}
}

func printReport(cmd *cobra.Command, s streams, r sqlite.Report) error {
	if wantsJSON(cmd) {
		return printJSON(s.out, r)
	}
	var states []string
	for _, state := range slices.Sorted(maps.Keys(r.States)) {
		states = append(states, fmt.Sprintf("%d %s", r.States[state], state))
	}
	rows := [][]string{
		{"schema", fmt.Sprintf("version %d of %d", r.Schema, r.Known)},
		{"size", fmt.Sprintf("%d KiB", r.Bytes/1024)},
		{"actions", strings.TrimSuffix(fmt.Sprintf("%d: %s", r.Actions, strings.Join(states, ", ")), ": ")},
		{"records", fmt.Sprint(r.Records)},
	}
	if !r.LastAt.IsZero() {
		rows = append(rows, []string{"last record", local(r.LastAt.Format(time.RFC3339))})
	}
	if r.Restores > 0 {
		rows = append(rows, []string{"restored", times(r.Restores)})
	}
	for _, f := range r.Faults {
		rows = append(rows, []string{"FAULT", f})
	}
	if r.More > 0 {
		rows = append(rows, []string{"FAULT", fmt.Sprintf("and %d more", r.More)})
	}
	if len(r.Faults) == 0 {
		rows = append(rows, []string{"faults", "none"})
	}
	return table(s.out, []string{"STORE", ""}, rows)
}

func printRestoration(cmd *cobra.Command, s streams, r sqlite.Restoration) error {
	if wantsJSON(cmd) {
		return printJSON(s.out, r)
	}
	last := "it has no record"
	if !r.LastAt.IsZero() {
		last = fmt.Sprintf("its last record is %d, of %s", r.LastRecord, local(r.LastAt.Format(time.RFC3339)))
	}
	fmt.Fprintf(s.out, "the backup is in place; %s\n", last)
	fmt.Fprintf(s.out, "ended: %d that waited or were approved, and %d that ran are uncertain; %d policy versions moved\n",
		r.Expired, r.Uncertain, r.Epochs)
	if r.Replaced != "" {
		fmt.Fprintf(s.out, "the store of before is kept: %s\n", plain(r.Replaced))
	}
	_, err := fmt.Fprintln(s.out, "everything is frozen. Find out what the tools did after that record; then: verbatim unfreeze --everything --reason TEXT")
	return err
}

func times(n int) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}

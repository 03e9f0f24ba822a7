package postgres

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/canon"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// ErrMigration is returned for a database whose tables this program did not
// make: of a newer version, or with a migration whose text has changed; and
// for one that is behind where this role may not bring it up to date.
var ErrMigration = errors.New("the tables of the store are not those that this program knows")

// migration is one numbered step forward. There is no way back.
type migration struct {
	version int
	name    string
	sql     string
	digest  canon.Digest
}

func migrations() ([]migration, error) {
	entries, err := fs.ReadDir(migrationFiles, "migrations") // in the order of their names
	if err != nil {
		return nil, err
	}
	out := make([]migration, 0, len(entries))
	for i, e := range entries {
		number, name, _ := strings.Cut(strings.TrimSuffix(e.Name(), ".sql"), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("%w: %s is not number %d", ErrMigration, e.Name(), i+1)
		}
		text, err := migrationFiles.ReadFile("migrations/" + e.Name())
		if err != nil {
			return nil, err
		}
		out = append(out, migration{version: version, name: name, sql: string(text), digest: canon.Sum(text)})
	}
	return out, nil
}

// migrationLock is the number of the advisory lock under which one gateway at
// a time changes tables. Nothing but migrations relies on such a lock.
const migrationLock = 0x7665726261_74 // "verbat"

// migrate brings the tables up to date. Where they are, it only reads, so
// that a role without any right to change tables will do.
func migrate(c *conn) error {
	all, err := migrations()
	if err != nil {
		return err
	}
	current, err := upToDate(c, all)
	if err != nil || current {
		return err
	}
	if _, err := c.exec("SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return err
	}
	err = applyAll(c, all)
	_, free := c.exec("SELECT pg_advisory_unlock($1)", migrationLock)
	if code(err) == "42501" { // no such right
		err = fmt.Errorf("%w: they are behind, and this role may not change them: %w", ErrMigration, err)
	}
	return errors.Join(err, free)
}

// upToDate compares the migrations that were made with those known.
func upToDate(c *conn, all []migration) (bool, error) {
	there, err := versioned(c)
	if err != nil || !there {
		return false, err
	}
	made := 0
	err = c.query(func(cur *cursor) error {
		version, digest := cur.int(), cur.digest()
		switch {
		case version != int64(made+1):
			return fmt.Errorf("%w: version %d follows %d", ErrMigration, version, made)
		case made >= len(all):
			return fmt.Errorf("%w: version %d, this program knows %d", ErrMigration, version, len(all))
		case digest != all[made].digest:
			return fmt.Errorf("%w: migration %d differs", ErrMigration, version)
		}
		made++
		return nil
	}, "SELECT version, digest FROM schema_version ORDER BY version")
	return made == len(all), err
}

// versioned reports whether there are tables of a store at all.
func versioned(c *conn) (bool, error) {
	n, err := c.number("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_version'")
	return n > 0, err
}

// version is the number of migrations that were made.
func version(c *conn) (int, error) {
	there, err := versioned(c)
	if err != nil || !there {
		return 0, err
	}
	n, err := c.number("SELECT count(*) FROM schema_version")
	return int(n), err
}

const versionTable = `CREATE TABLE IF NOT EXISTS schema_version (
	version BIGINT PRIMARY KEY, name TEXT NOT NULL, digest BYTEA NOT NULL, at BIGINT NOT NULL)`

// applyAll makes what is missing, each step in a transaction of its own with
// the note that it was made.
func applyAll(c *conn, all []migration) error {
	if _, err := c.exec(versionTable); err != nil {
		return err
	}
	if current, err := upToDate(c, all); err != nil || current {
		return err // another gateway was faster
	}
	made, err := c.number("SELECT count(*) FROM schema_version")
	if err != nil {
		return err
	}
	for _, m := range all[made:] {
		if err := apply(c, m); err != nil {
			return fmt.Errorf("migration %d: %w", m.version, err)
		}
	}
	return nil
}

func apply(c *conn, m migration) error {
	return pgx.BeginFunc(c.ctx, c.db, func(pgx.Tx) error { return applyHere(c, m) })
}

// applyHere makes one step inside the open transaction.
func applyHere(c *conn, m migration) error {
	if _, err := c.db.PgConn().Exec(c.ctx, m.sql).ReadAll(); err != nil {
		return err
	}
	_, err := c.exec(`INSERT INTO schema_version (version, name, digest, at)
		VALUES ($1, $2, $3, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000)`, m.version, m.name, m.digest)
	return err
}

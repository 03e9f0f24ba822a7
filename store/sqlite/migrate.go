package sqlite

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// ErrMigration is returned for a database whose schema this program did not
// make: of a newer version, or with a migration whose text has changed.
var ErrMigration = errors.New("the schema of the store is not one that this program knows")

// unknown says what is wrong with a schema of another version.
func unknown(made, known int) error {
	if made < known {
		return fmt.Errorf("%w: %w", ErrMigration, ErrEarlier)
	}
	return ErrMigration
}

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

// versionTable says which migrations were made.
const versionTable = `CREATE TABLE IF NOT EXISTS schema_version (
		version INTEGER PRIMARY KEY, name TEXT NOT NULL, digest BLOB NOT NULL, at INTEGER NOT NULL) STRICT`

// migrate brings the schema up to date, each step in a transaction of its
// own with the note that it was made.
func migrate(c *conn) error {
	if err := c.db.Exec(versionTable); err != nil {
		return err
	}
	all, err := migrations()
	if err != nil {
		return err
	}
	made, err := madeMigrations(c)
	if err != nil {
		return err
	}
	if len(made) > len(all) {
		return fmt.Errorf("%w: version %d, this program knows %d", ErrMigration, len(made), len(all))
	}
	for i, m := range all {
		if i < len(made) {
			if made[i] != m.digest {
				return fmt.Errorf("%w: migration %d differs", ErrMigration, m.version)
			}
			continue
		}
		if err := apply(c, m); err != nil {
			return fmt.Errorf("migration %d: %w", m.version, err)
		}
	}
	return nil
}

func madeMigrations(c *conn) ([]canon.Digest, error) {
	var made []canon.Digest
	err := c.query(func(cur *cursor) error {
		if version := cur.int(); version != int64(len(made)+1) {
			return fmt.Errorf("%w: version %d follows %d", ErrMigration, version, len(made))
		}
		made = append(made, cur.digest())
		return nil
	}, "SELECT version, digest FROM schema_version ORDER BY version")
	return made, err
}

func apply(c *conn, m migration) error {
	if err := c.db.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := c.db.Exec(m.sql)
	if err == nil {
		_, err = c.exec("INSERT INTO schema_version (version, name, digest, at) VALUES (?, ?, ?, "+clockSQL+")",
			m.version, m.name, m.digest)
	}
	if err == nil {
		err = c.db.Exec("COMMIT")
	}
	if err != nil && !c.db.GetAutocommit() {
		err = errors.Join(err, c.db.Exec("ROLLBACK"))
	}
	return err
}

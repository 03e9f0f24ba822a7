package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// ErrFaults is returned for a store that is not as this program leaves it.
// The report beside it says what is wrong.
var ErrFaults = errors.New("the store has faults")

// maxFaults is how many faults a report names.
const maxFaults = 20

// Report is what a check found. Faults name rows by id and never hold what
// was stored in them.
type Report struct {
	Schema   int                  `json:"schema"` // the version of the file
	Known    int                  `json:"known"`  // the newest that this program knows
	Bytes    int64                `json:"bytes"`
	Actions  int                  `json:"actions"`
	States   map[action.State]int `json:"states"`
	Records  int64                `json:"records"`
	LastAt   time.Time            `json:"lastAt"` // of the last record; zero if there is none
	Restores int                  `json:"restores"`
	Faults   []string             `json:"faults"`
	More     int                  `json:"more"` // faults beyond those named
}

func (r *Report) fault(format string, args ...any) {
	if len(r.Faults) == maxFaults {
		r.More++
		return
	}
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// Check reads the whole store at path, beside whoever owns it, as it is at
// one moment: the file's own structure, that the schema is the one of this
// program, that every payload opens and hashes to what was decided on, that
// records are numbered without a gap and say what their columns and rows say,
// and that every run of an approved call has used its approval up. It fails
// with ErrNoStore, ErrMigration, ErrSealKey, or ErrFaults beside the report.
func Check(ctx context.Context, path string, opt Options) (r Report, err error) {
	s, c, err := peek(path, opt)
	if err != nil {
		return Report{}, fmt.Errorf("check store: %w", err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	defer c.interrupt(ctx)()
	if err := c.db.Exec("BEGIN"); err != nil {
		return Report{}, fmt.Errorf("check store: %w", err)
	}
	r, err = s.check(c)
	if err != nil {
		return r, fmt.Errorf("check store: %w", err)
	}
	if len(r.Faults) > 0 {
		return r, ErrFaults
	}
	return r, nil
}

func (s *Store) check(c *conn) (Report, error) {
	r := Report{States: map[action.State]int{}}
	if err := r.checkFile(c); err != nil || len(r.Faults) > 0 {
		return r, err // nothing that follows could be believed
	}
	for _, look := range []func(*Store, *conn) error{
		r.checkSchema, r.checkSeal, r.checkRecords, r.checkActions, r.checkUses, r.checkClock} {
		if err := look(s, c); err != nil {
			return r, err
		}
	}
	return r, nil
}

// checkFile asks SQLite whether the file is whole.
func (r *Report) checkFile(c *conn) error {
	err := c.query(func(cur *cursor) error {
		if text := cur.text(); text != "ok" {
			r.fault("the file is damaged: %s", text)
		}
		return nil
	}, "PRAGMA integrity_check(20)")
	if errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB) {
		r.fault("the file is damaged: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	if r.Bytes, err = c.number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"); err != nil {
		return err
	}
	return c.query(func(cur *cursor) error {
		r.fault("a row of %s points to nothing", cur.text())
		return nil
	}, `SELECT DISTINCT "table" FROM pragma_foreign_key_check`)
}

// checkSchema compares every table, index and trigger with a store that is
// made anew by the same migrations.
func (r *Report) checkSchema(_ *Store, c *conn) error {
	all, err := migrations()
	if err != nil {
		return err
	}
	made, err := madeMigrations(c)
	if err != nil {
		return err
	}
	r.Schema, r.Known = len(made), len(all)
	if len(made) > len(all) {
		return fmt.Errorf("%w: version %d, this program knows %d", ErrMigration, len(made), len(all))
	}
	for i := range made {
		if made[i] != all[i].digest {
			return fmt.Errorf("%w: migration %d differs", ErrMigration, i+1)
		}
	}
	want, err := freshSchema(all[:len(made)])
	if err != nil {
		return err
	}
	got, err := schemaOf(c)
	if err != nil {
		return err
	}
	for name, text := range want {
		if got[name] != text {
			r.fault("%s is missing or changed", name)
		}
	}
	for name := range got {
		if _, known := want[name]; !known {
			r.fault("%s was added", name)
		}
	}
	return nil
}

// freshSchema is the schema that migrations make, by kind and name.
func freshSchema(steps []migration) (out map[string]string, err error) {
	db, err := sqlite3.Open(":memory:")
	if err != nil {
		return nil, err
	}
	c := &conn{db: db, stmts: map[string]*sqlite3.Stmt{}}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := db.Exec(versionTable); err != nil {
		return nil, err
	}
	for _, m := range steps {
		if err := apply(c, m); err != nil {
			return nil, err
		}
	}
	return schemaOf(c)
}

func schemaOf(c *conn) (map[string]string, error) {
	out := map[string]string{}
	err := c.query(func(cur *cursor) error {
		name := cur.text() + " " + cur.text()
		out[name] = cur.text()
		return nil
	}, "SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
	return out, err
}

func (r *Report) checkSeal(s *Store, c *conn) error {
	var sealed []byte
	found, err := c.one(func(cur *cursor) error { sealed = cur.blob(); return nil }, "SELECT sealed FROM seal_check")
	if err != nil {
		return err
	}
	if !found {
		r.fault("the word that shows the sealing key is missing")
		return nil
	}
	return s.opens(sealed)
}

// checkRecords reads the whole log.
func (r *Report) checkRecords(_ *Store, c *conn) error {
	return c.query(func(cur *cursor) error {
		seq, id, at, tenant, event, of := cur.int(), cur.text(), cur.time(), cur.text(), cur.text(), cur.text()
		r.Records++
		if seq != r.Records {
			r.fault("record %d follows record %d", seq, r.Records-1)
			r.Records = seq
		}
		record, err := audit.ParseLeaf(cur.blob())
		if err != nil {
			r.fault("record %d: %v", seq, err)
			return nil
		}
		if record.Seq != seq || record.ID != id || !record.At.Equal(at) || record.Tenant != tenant ||
			record.Event != event || record.Action != of {
			r.fault("record %d is not what its columns say", seq)
		}
		if at.Before(r.LastAt) {
			r.fault("record %d is older than the one before", seq)
		}
		if record.Event == audit.Restored {
			r.Restores++
		}
		r.LastAt = at
		return nil
	}, "SELECT seq, id, at, tenant, event, action_id, leaf FROM event ORDER BY seq")
}

// checkActions opens every row and compares it with its last record.
func (r *Report) checkActions(s *Store, c *conn) error {
	for after := int64(0); ; {
		var ids []string
		err := c.query(func(cur *cursor) error {
			after = cur.int()
			ids = append(ids, cur.text())
			return nil
		}, "SELECT seq, id FROM action WHERE seq > ? ORDER BY seq LIMIT 500", after)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if err := r.checkAction(s, c, id); err != nil {
				return err
			}
		}
	}
}

func (r *Report) checkAction(s *Store, c *conn, id string) error {
	r.Actions++
	row, err := s.load(c, id)
	if err != nil {
		r.fault("action %s: %v", id, err)
		return nil
	}
	r.States[row.State]++
	var leaf []byte
	found, err := c.one(func(cur *cursor) error { leaf = cur.blob(); return nil },
		"SELECT leaf FROM event WHERE action_id = ? ORDER BY seq DESC LIMIT 1", id)
	if err != nil {
		return err
	}
	record, err := audit.ParseLeaf(leaf)
	switch {
	case !found:
		r.fault("action %s has no record", id)
	case err == nil && record.To != string(row.State): // a leaf that cannot be read is named already
		r.fault("action %s is %s, its last record says %s", id, row.State, record.To)
	}
	return nil
}

// checkUses: an approved call that ran has used its approval up, and nothing
// else has.
func (r *Report) checkUses(_ *Store, c *conn) error {
	return c.query(func(cur *cursor) error {
		r.fault("action %s ran without using its approval up, or the other way round", cur.text())
		return nil
	}, `SELECT a.id FROM action a JOIN approval t ON t.action_id = a.id LEFT JOIN consumption u ON u.action_id = a.id
		WHERE (a.attempt > 0) <> (u.digest IS NOT NULL) OR u.digest IS NOT NULL AND u.digest <> t.digest ORDER BY a.seq`)
}

func (r *Report) checkClock(_ *Store, c *conn) error {
	n, err := c.number("SELECT count(*) FROM time_floor WHERE at < (SELECT coalesce(max(at), 0) FROM event)")
	if err == nil && n > 0 {
		r.fault("the clock is behind the last record")
	}
	return err
}

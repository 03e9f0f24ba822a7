package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// ErrFaults is returned for a store that is not as this program leaves it.
// The report beside it says what is wrong.
var ErrFaults = verbs.ErrFaults

// ErrEarlier comes with ErrFaults or ErrMigration for a store of an earlier
// version: a migration brings it up to date.
var ErrEarlier = verbs.ErrEarlier

// Report is what a check found.
type Report = verbs.Report

// examination is a report while it is made.
type examination struct {
	Report
	packs map[int64][]kept // the records of some packs, by the first one
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
	return r, r.Err()
}

func (s *Store) check(c *conn) (Report, error) {
	r := examination{Report: Report{States: map[action.State]int{}}}
	if err := r.checkFile(c); err != nil || len(r.Faults) > 0 {
		return r.Report, err // nothing that follows could be believed
	}
	if err := r.each(s, c, r.checkSchema, r.checkSeal, r.checkRecords); err != nil {
		return r.Report, err
	}
	if r.Earlier() {
		return r.Report, nil // its rows have another form
	}
	err := r.each(s, c, r.checkLists, r.checkActions, r.checkUses, r.checkStanding, r.checkClock, r.checkSwift)
	return r.Report, err
}

func (r *examination) each(s *Store, c *conn, looks ...func(*Store, *conn) error) error {
	for _, look := range looks {
		if err := look(s, c); err != nil {
			return err
		}
	}
	return nil
}

// checkFile asks SQLite whether the file is whole.
func (r *examination) checkFile(c *conn) error {
	err := c.query(func(cur *cursor) error {
		if text := cur.text(); text != "ok" {
			r.Fault("the file is damaged: %s", text)
		}
		return nil
	}, "PRAGMA integrity_check(20)")
	if errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB) {
		r.Fault("the file is damaged: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	if r.Bytes, err = c.number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"); err != nil {
		return err
	}
	return c.query(func(cur *cursor) error {
		r.Fault("a row of %s points to nothing", cur.text())
		return nil
	}, `SELECT DISTINCT "table" FROM pragma_foreign_key_check`)
}

// checkSchema compares every table, index and trigger with a store that is
// made anew by the same migrations.
func (r *examination) checkSchema(_ *Store, c *conn) error {
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
	r.Shape(got, want)
	return nil
}

// freshSchema is the schema that migrations make, by kind and name.
func freshSchema(steps []migration) (out map[string]string, err error) {
	db, err := sqlite3.Open(":memory:")
	if err != nil {
		return nil, err
	}
	c := &conn{db: db, stmts: map[string]*stmt{}}
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

func (r *examination) checkSeal(s *Store, c *conn) error {
	var sealed []byte
	found, err := c.one(func(cur *cursor) error { sealed = cur.blob(); return nil }, "SELECT sealed FROM seal_check")
	if err != nil {
		return err
	}
	if !found {
		r.Fault("the word that shows the sealing key is missing")
		return nil
	}
	return s.opens(sealed)
}

// checkActions opens every row and compares it with its last record.
func (r *examination) checkActions(s *Store, c *conn) error {
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

func (r *examination) checkAction(s *Store, c *conn, id string) error {
	r.Actions++
	row, err := s.load(c, id)
	if err != nil {
		r.Fault("action %s: %v", id, err)
		return nil
	}
	last, err := r.lastOf(c, id)
	if err == nil {
		r.Action(row, last)
	}
	return err
}

// checkUses: an approved call that ran has used its approval up, and nothing
// else has.
func (r *examination) checkUses(_ *Store, c *conn) error {
	return c.query(func(cur *cursor) error {
		r.Fault("action %s ran without using its approval up, or the other way round", cur.text())
		return nil
	}, `SELECT a.id FROM action a JOIN approval t ON t.action_id = a.id LEFT JOIN consumption u ON u.action_id = a.id
		WHERE (a.attempt > 0) <> (u.digest IS NOT NULL) OR u.digest IS NOT NULL AND u.digest <> t.digest ORDER BY a.seq`)
}

// checkStanding: a standing grant has been used as often, and for as much, as
// the runs that it covered say. A store of before there were any has none.
func (r *examination) checkStanding(_ *Store, c *conn) error {
	n, err := c.number("SELECT count(*) FROM sqlite_schema WHERE name = 'standing_cover'")
	if err != nil || n == 0 {
		return err
	}
	return c.query(func(cur *cursor) error {
		r.Fault("standing grant %s was not used as its runs say", cur.text())
		return nil
	}, `SELECT g.id FROM standing_grant g LEFT JOIN (SELECT c.grant_id, count(*) AS uses, sum(c.amount) AS spent FROM standing_cover c
		JOIN action a ON a.id = c.action_id WHERE c.used_at IS NOT NULL AND a.attempt > 0 GROUP BY c.grant_id) u ON u.grant_id = g.id
		WHERE g.uses <> coalesce(u.uses, 0) OR g.spent <> coalesce(u.spent, 0)`)
}

func (r *examination) checkClock(_ *Store, c *conn) error {
	n, err := c.number("SELECT count(*) FROM time_floor WHERE at + ? < coalesce((SELECT at FROM event_pack ORDER BY first DESC LIMIT 1), 0)", int64(grain))
	if err == nil && n > 0 {
		r.Fault("the clock is behind the last record")
	}
	return err
}

// checkSwift: the rows that run are found, and no others.
func (r *examination) checkSwift(_ *Store, c *conn) error {
	n, err := c.number("SELECT count(*) FROM action WHERE (state = 'executing') <> (" + atWork + ")")
	if err == nil && n > 0 {
		r.Fault("rows that run are not found among those in flight")
	}
	return err
}

package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// ErrFaults is returned for a store, or a backup, that is not as this program
// leaves it. The report beside it says what is wrong.
var ErrFaults = verbs.ErrFaults

// ErrNoStore is returned where the schema has no tables of a store.
var ErrNoStore = errors.New("there is no store there")

// Report is what a check found.
type Report = verbs.Report

// Check reads the whole store behind a connection string, beside the gateways
// that use it, as it is at one moment: that its tables, constraints and
// triggers are those of this program, that every payload opens and hashes to
// what was decided on, that records are numbered without a gap and say what
// their columns and rows say, and that every run of an approved call has used
// its approval up. The role must be one that may make a schema, in which the
// tables are made once more to compare, and undone. It fails with ErrNoStore,
// ErrMigration, ErrSealKey, or ErrFaults beside the report.
func Check(ctx context.Context, opt Options) (r Report, err error) {
	err = examined(ctx, opt, func(e *examination, c *conn) error { return nil }, &r)
	if err != nil {
		return r, fmt.Errorf("check store: %w", err)
	}
	return r, nil
}

// CheckFile reads a backup as Check reads a store. It is put into a schema of
// its own, which is undone afterwards.
func CheckFile(ctx context.Context, path string, opt Options) (r Report, err error) {
	err = alone(ctx, opt, func(s *Store, c *conn) error {
		return inScratch(c, scratchName(), func() (bool, error) {
			if err := load(c, path); err != nil {
				return false, err
			}
			e := s.examination()
			err := e.all(c)
			r = e.Report
			return false, err
		})
	})
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		return r, fmt.Errorf("check backup: %w", err)
	}
	if r.Bytes, err = sizeOf(path); err != nil {
		return r, fmt.Errorf("check backup: %w", err)
	}
	return r, nil
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// alone opens one connection that belongs to no gateway.
func alone(ctx context.Context, opt Options, fn func(*Store, *conn) error) error {
	if opt.Sealer == nil {
		return ErrNoSealer
	}
	cfg, err := pgx.ParseConfig(opt.DSN)
	if err != nil {
		return err
	}
	cfg.ConnectTimeout = connectTimeout
	cfg.OnNotice = noticed
	cfg.RuntimeParams["application_name"] = "verbatim store"
	db, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	s := newStore(opt)
	if err := s.greet(ctx, db); err != nil {
		return err
	}
	return fn(s, &conn{ctx: ctx, db: db})
}

// examined checks a store and lets fn look at the same moment of it.
func examined(ctx context.Context, opt Options, fn func(*examination, *conn) error, r *Report) error {
	return alone(ctx, opt, func(s *Store, c *conn) error {
		made, err := madeMigrations(c)
		if err != nil {
			return err
		}
		all, err := known(made)
		if err != nil {
			return err
		}
		want, err := freshShape(c, all[:len(made)])
		if err != nil {
			return err
		}
		e := s.examination()
		err = pgx.BeginTxFunc(ctx, c.db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(pgx.Tx) error {
			if err := e.checkShape(c, want); err != nil {
				return err
			}
			if err := e.all(c); err != nil {
				return err
			}
			*r = e.Report
			err := r.Err()
			if err == nil || errors.Is(err, verbs.ErrEarlier) {
				err = cmp.Or(fn(e, c), err)
			}
			return err
		})
		*r = e.Report
		return err
	})
}

// madeMigrations are the digests of the migrations that the store was made
// by.
func madeMigrations(c *conn) (made []canon.Digest, err error) {
	there, err := versioned(c)
	if err == nil && !there {
		err = ErrNoStore
	}
	if err != nil {
		return nil, err
	}
	err = c.query(func(cur *cursor) error {
		if version := cur.int(); version != int64(len(made)+1) {
			return fmt.Errorf("%w: version %d follows %d", ErrMigration, version, len(made))
		}
		made = append(made, cur.digest())
		return nil
	}, "SELECT version, digest FROM schema_version ORDER BY version")
	return made, err
}

// examination is a report while it is made.
type examination struct {
	Report
	store *Store
}

func (s *Store) examination() *examination {
	return &examination{Report{States: map[action.State]int{}}, s}
}

// all looks at everything but the shape.
func (e *examination) all(c *conn) error {
	if err := each(c, e.checkVersion, e.checkSeal, e.checkRecords, e.checkNumbers); err != nil {
		return err
	}
	if e.Earlier() {
		return nil // its rows have another form
	}
	return each(c, e.checkActions, e.checkUses, e.checkStanding, e.checkClock)
}

func each(c *conn, looks ...func(*conn) error) error {
	for _, look := range looks {
		if err := look(c); err != nil {
			return err
		}
	}
	return nil
}

func (e *examination) checkVersion(c *conn) error {
	made, err := madeMigrations(c)
	if err != nil {
		return err
	}
	all, err := known(made)
	if err != nil {
		return err
	}
	e.Schema, e.Known = len(made), len(all)
	e.Bytes, err = c.number(`SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`)
	return err
}

func (e *examination) checkShape(c *conn, want map[string]string) error {
	got, err := shape(c)
	if err != nil {
		return err
	}
	e.Shape(got, want)
	return nil
}

func (e *examination) checkSeal(c *conn) error {
	var sealed []byte
	found, err := c.one(func(cur *cursor) error { sealed = cur.blob(); return nil }, "SELECT sealed FROM seal_check")
	if err != nil {
		return err
	}
	if !found {
		e.Fault("the word that shows the sealing key is missing")
		return nil
	}
	return e.store.opens(sealed)
}

// checkRecords reads the whole log. Those that were written last may have no
// number yet.
func (e *examination) checkRecords(c *conn) error {
	numbered := int64(0)
	return c.query(func(cur *cursor) error {
		place, id, at, tenant, event, of := cur.int(), cur.text(), cur.time(), cur.text(), cur.text(), cur.text()
		body, seq, leaf, waits := cur.blob(), cur.int(), cur.blob(), cur.bool()
		e.Records++
		name := fmt.Sprintf("the record at place %d", place)
		if waits == (seq > 0) {
			e.Fault("%s is numbered and waits for a number, or neither", name)
		}
		if seq > 0 {
			if numbered++; seq != numbered {
				e.Fault("record %d follows record %d", seq, numbered-1)
				numbered = seq
			}
			name, body = fmt.Sprintf("record %d", seq), leaf
		}
		e.Record(name, body, audit.Record{Seq: seq, ID: id, At: at, Tenant: tenant, Event: event, Action: of})
		return nil
	}, `SELECT e.place, e.id, e.at, e.tenant, e.event, e.action_id, e.body, l.seq, l.leaf, u.place IS NOT NULL
		FROM event e LEFT JOIN leaf l ON l.place = e.place LEFT JOIN unnumbered u ON u.place = e.place ORDER BY l.seq NULLS LAST, e.place`)
}

// checkNumbers: the numbering goes on where the records end.
func (e *examination) checkNumbers(c *conn) error {
	n, err := c.number("SELECT count(*) FROM numbering WHERE last = (SELECT coalesce(max(seq), 0) FROM leaf)")
	if err == nil && n != 1 {
		e.Fault("the numbering does not go on behind the last record")
	}
	return err
}

// examinedAtOnce is how many rows are read together.
const examinedAtOnce = 500

// checkActions opens every row and compares it with its last record.
func (e *examination) checkActions(c *conn) error {
	for after := int64(0); ; {
		var ids []string
		if err := c.query(func(cur *cursor) error {
			after = cur.int()
			ids = append(ids, cur.text())
			return nil
		}, "SELECT seq, id FROM action WHERE seq > $1 ORDER BY seq LIMIT $2", after, examinedAtOnce); err != nil || len(ids) == 0 {
			return err
		}
		last, err := lastRecords(c, ids)
		if err != nil {
			return err
		}
		if err := e.checkPage(c, ids, last); err != nil {
			return err
		}
	}
}

// lastRecords is the last record of each action.
func lastRecords(c *conn, ids []string) (map[string][]byte, error) {
	last := map[string][]byte{}
	err := c.query(func(cur *cursor) error {
		id := cur.text()
		last[id] = cur.blob()
		return nil
	}, "SELECT DISTINCT ON (action_id) action_id, body FROM event WHERE action_id = ANY ($1::text[]) ORDER BY action_id, place DESC", ids)
	return last, err
}

func (e *examination) checkPage(c *conn, ids []string, last map[string][]byte) error {
	e.Actions += len(ids)
	rows, err := e.store.list(c, "WHERE a.id = ANY ($1::text[]) ORDER BY a.seq", ids)
	if err == nil && len(rows) == len(ids) {
		for _, row := range rows {
			e.Action(row, last[row.ID])
		}
		return nil
	}
	for _, id := range ids { // to find out which
		row, err := e.store.loadWhere(c, "WHERE a.id = $1", id)
		if err != nil {
			if c.db.IsClosed() {
				return err
			}
			e.Fault("action %s: %v", id, err)
			continue
		}
		e.Action(row, last[row.ID])
	}
	return nil
}

// checkUses: an approved call that ran has used its approval up, and nothing
// else has.
func (e *examination) checkUses(c *conn) error {
	return c.query(func(cur *cursor) error {
		e.Fault("action %s ran without using its approval up, or the other way round", cur.text())
		return nil
	}, `SELECT a.id FROM action a JOIN approval t ON t.tenant = a.tenant AND t.action_id = a.id
		LEFT JOIN consumption u ON u.tenant = a.tenant AND u.action_id = a.id
		WHERE (a.attempt > 0) <> (u.digest IS NOT NULL) OR u.digest IS NOT NULL AND u.digest <> t.digest ORDER BY a.seq`)
}

// checkStanding: a standing grant has been used as often, and for as much, as
// the runs that it covered say. A store of before there were any has none.
func (e *examination) checkStanding(c *conn) error {
	n, err := c.number("SELECT count(*) FROM pg_class WHERE relname = 'standing_cover' AND relnamespace = current_schema()::regnamespace")
	if err != nil || n == 0 {
		return err
	}
	return c.query(func(cur *cursor) error {
		e.Fault("standing grant %s was not used as its runs say", cur.text())
		return nil
	}, `SELECT g.id FROM standing_grant g LEFT JOIN (SELECT c.grant_id, count(*) AS uses, sum(c.amount) AS spent FROM standing_cover c
		JOIN action a ON a.tenant = c.tenant AND a.id = c.action_id WHERE c.used_at IS NOT NULL AND a.attempt > 0 GROUP BY c.grant_id) u ON u.grant_id = g.id
		WHERE g.uses <> coalesce(u.uses, 0) OR g.spent <> coalesce(u.spent, 0)`)
}

// checkClock: the stored time may lie behind the last record by as much as it
// is let.
func (e *examination) checkClock(c *conn) error {
	n, err := c.number("SELECT count(*) FROM time_floor WHERE "+floorSQL+" + $1 < (SELECT coalesce(max(at), 0) FROM event)", int64(bound+time.Millisecond))
	if err == nil && n > 0 {
		e.Fault("the clock is behind the last record")
	}
	return err
}

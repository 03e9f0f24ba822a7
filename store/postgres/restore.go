package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/store/tables"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// ErrInUse is returned by Restore while a gateway uses the store, or has
// until a moment ago.
var ErrInUse = errors.New("a gateway uses the store")

// Restoration says what a restore did.
type Restoration = verbs.Restoration

// scratchName is a schema that nobody else uses.
func scratchName() string { return "verbatim_scratch_" + strings.ToLower(rand.Text()) }

// Restore puts a backup in the place of the store behind a connection string,
// which no gateway may use. What was acknowledged after the backup is unknown
// from then on, so nothing of it is guessed (docs/operations.md, "Restore"):
//
//   - what waited, was approved or was claimed ends as expired, and its result
//     says that it is not known whether it ran after the backup;
//   - what was executing is uncertain;
//   - every tool's policy epoch moves to one that was never given, so that
//     decisions of before begin nothing;
//   - standing grants, delegations, logins and open invitations end;
//   - the log has a new name, and everything is frozen until a person lifts it;
//   - one record marks the gap.
//
// It is one transaction: all of it happens, or nothing. The store of before
// moves to another schema, which Restoration.Replaced names. role is given
// what a gateway needs, as are the roles that had it before; it may be "". The
// connection must be one of the tables' owner who may make schemas. It fails
// with ErrInUse, ErrNoBackup, ErrFaults, ErrMigration or ErrSealKey, and with
// ErrUnknown where the answer to the last commit was lost.
func Restore(ctx context.Context, path string, opt Options, role string) (r Restoration, err error) {
	err = alone(ctx, opt, func(s *Store, c *conn) error {
		home, err := currentSchema(c)
		if err != nil {
			return err
		}
		scratch := scratchName()
		return inScratch(c, scratch, func() (bool, error) {
			m := &mover{conn: c, store: s, home: home, scratch: scratch}
			if r, err = m.restore(path, role); err != nil {
				return false, err
			}
			return true, m.commit()
		})
	})
	if err != nil {
		return r, fmt.Errorf("restore store: %w", err)
	}
	return r, nil
}

// mover puts a backup in the place of a store.
type mover struct {
	*conn
	store         *Store
	home, scratch string // the schema of the store, and that in which the new one is made
}

func (m *mover) restore(path, role string) (r Restoration, err error) {
	if err := m.lockHome(); err != nil {
		return r, err
	}
	if err := load(m.conn, path); err != nil {
		return r, err
	}
	e := m.store.examination()
	if err := e.all(m.conn); err != nil {
		return r, err
	}
	if err := e.Err(); err != nil {
		return r, fmt.Errorf("%w: %s", err, strings.Join(e.Faults, "; "))
	}
	if err := m.bringUp(); err != nil {
		return r, err
	}
	if r, err = m.restored(); err != nil {
		return r, err
	}
	roles, err := m.gateways()
	if err != nil {
		return r, err
	}
	if err := m.change(&r); err != nil {
		return r, err
	}
	if role != "" && !slices.Contains(roles, role) {
		roles = append(roles, role)
	}
	for _, name := range roles {
		if err := grantHere(m.conn, name); err != nil {
			return r, err
		}
	}
	return r, nil
}

// lockHome keeps gateways out until the transaction has ended, and refuses
// where one is there.
func (m *mover) lockHome() error {
	if _, err := m.exec("SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
		return err
	}
	there, err := m.number("SELECT count(*) FROM pg_tables WHERE schemaname = $1 AND tablename IN ('action', 'process')", m.home)
	if err != nil || there < 2 {
		return err
	}
	home := pgx.Identifier{m.home}.Sanitize()
	if _, err := m.db.Exec(m.ctx, "LOCK TABLE "+home+".action, "+home+".process IN ACCESS EXCLUSIVE MODE"); err != nil {
		return err
	}
	n, err := m.number("SELECT count(*) FROM "+home+".process WHERE seen_at > "+realNow+" - $1::bigint", int64(silence))
	if err == nil && n > 0 {
		err = fmt.Errorf("%w: %d were seen within the last %s", ErrInUse, n, silence)
	}
	return err
}

// bringUp makes the migrations that are younger than the backup.
func (m *mover) bringUp() error {
	made, err := madeMigrations(m.conn)
	if err != nil {
		return err
	}
	all, err := known(made)
	if err != nil {
		return err
	}
	return extend(m.conn, all[len(made):])
}

// restored marks the gap and ends what the backup had open.
func (m *mover) restored() (r Restoration, err error) {
	t := &tx{conn: m.conn, store: m.store, session: sessionOf(m.db.PgConn())}
	if err := m.store.recall(m.conn); err != nil {
		return r, err
	}
	if t.time, err = m.store.peekClock(m.conn); err != nil {
		return r, err
	}
	r.At = t.time
	if _, err := t.exec("UPDATE time_floor SET at = $1 WHERE at < $1", t.now()); err != nil {
		return r, err
	}
	for _, step := range []func(*Restoration) error{t.numberAll, t.markGap, t.endOpen, t.endAuthority, t.numberAll} {
		if err := step(&r); err != nil {
			return r, err
		}
	}
	return r, t.run()
}

func (t *tx) numberAll(*Restoration) error {
	for {
		n, err := t.number1000()
		if err != nil || n == 0 {
			return err
		}
	}
}

func (t *tx) markGap(r *Restoration) error {
	if _, err := t.one(func(cur *cursor) error { r.LastRecord, r.LastAt = cur.int(), cur.time(); return nil },
		"SELECT l.seq, e.at FROM leaf l JOIN event e ON e.place = l.place ORDER BY l.seq DESC LIMIT 1"); err != nil {
		return err
	}
	return tables.MarkGap(t, r)
}

func (t *tx) endOpen(r *Restoration) error {
	for {
		rows, err := t.store.list(t.conn, `WHERE a.state IN ('pending_approval', 'approved', 'claimed', 'executing')
			ORDER BY a.seq LIMIT $1`, maxSwept)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			out, err := t.carry(row, verbs.CutOff(row))
			if err != nil {
				return err
			}
			r.CountCutOff(out)
		}
	}
}

func (t *tx) endAuthority(r *Restoration) error { return tables.EndAuthority(t, r) }

// gateways are the roles, beside the owner, that may write to the store of
// before.
func (m *mover) gateways() (roles []string, err error) {
	err = m.query(func(cur *cursor) error { roles = append(roles, cur.text()); return nil },
		`SELECT DISTINCT r.rolname::text FROM pg_class c, aclexplode(c.relacl) x JOIN pg_roles r ON r.oid = x.grantee
			WHERE c.relname = 'action' AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
			AND x.privilege_type = 'INSERT' AND x.grantee <> c.relowner ORDER BY 1`, m.home)
	return roles, err
}

// change moves the store of before out of its schema and the new one in.
func (m *mover) change(r *Restoration) error {
	things, err := m.things()
	if err != nil {
		return err
	}
	before := m.home + "_before_" + strings.ToLower(r.At.UTC().Format("20060102t150405.000000"))
	before = strings.ReplaceAll(before, ".", "_")
	old, err := m.number("SELECT count(*) FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version'", m.home)
	if err != nil {
		return err
	}
	if old > 0 {
		r.Replaced = before
		if _, err := m.db.Exec(m.ctx, "CREATE SCHEMA "+pgx.Identifier{before}.Sanitize()); err != nil {
			return err
		}
	}
	for _, t := range things {
		if old > 0 {
			if err := m.move(t, m.home, before); err != nil {
				return err
			}
		}
		if err := m.move(t, m.scratch, m.home); err != nil {
			return err
		}
	}
	_, err = m.db.PgConn().Exec(m.ctx, "SET LOCAL search_path = "+pgx.Identifier{m.home}.Sanitize()+"; DROP SCHEMA "+
		pgx.Identifier{m.scratch}.Sanitize()).ReadAll()
	return err
}

// thing is what a schema holds: a table, a sequence of its own, a function.
type thing struct{ kind, name string }

func (m *mover) things() (out []thing, err error) {
	err = m.query(func(cur *cursor) error { out = append(out, thing{cur.text(), cur.text()}); return nil },
		`SELECT CASE c.relkind WHEN 'r' THEN 'TABLE' ELSE 'SEQUENCE' END, c.relname::text FROM pg_class c
			WHERE c.relnamespace = current_schema()::regnamespace AND (c.relkind = 'r' OR c.relkind = 'S'
			AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')))
		UNION ALL SELECT 'FUNCTION', p.proname::text FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace`)
	return out, err
}

// move takes a thing into another schema. One that an older store does not
// have yet stays away.
func (m *mover) move(t thing, from, to string) error {
	there, err := m.number(`SELECT (SELECT count(*) FROM pg_class WHERE relname = $1 AND relkind IN ('r', 'S') AND relnamespace = n.oid)
		+ (SELECT count(*) FROM pg_proc WHERE proname = $1 AND pronamespace = n.oid) FROM pg_namespace n WHERE n.nspname = $2`, t.name, from)
	if err != nil || there == 0 {
		return err
	}
	name := pgx.Identifier{from, t.name}.Sanitize()
	if t.kind == "FUNCTION" {
		name += "()"
	}
	if _, err = m.db.Exec(m.ctx, "ALTER "+t.kind+" "+name+" SET SCHEMA "+pgx.Identifier{to}.Sanitize()); err != nil {
		return fmt.Errorf("move %s to %s: %w", t.name, to, err)
	}
	return nil
}

// commit ends the transaction. Where its answer is lost, only the database
// knows.
func (m *mover) commit() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), time.Minute)
	defer cancel()
	tag, err := m.db.Exec(ctx, "COMMIT")
	switch {
	case err == nil && tag.String() == "COMMIT" && !sessionOf(m.db.PgConn()).warned.Load():
		return nil
	case err == nil && tag.String() != "COMMIT":
		return fmt.Errorf("the database answered %s to COMMIT", tag)
	case code(err) != "":
		return err
	}
	return errors.Join(ErrUnknown, err)
}

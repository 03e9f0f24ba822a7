package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/seed-de4804fb/verbatim/canon"
)

// shapeSQL describes everything that the migrations make in the current
// schema, one thing a row: what it is called, and what it is.
const shapeSQL = `
WITH here AS (SELECT oid, nspname FROM pg_namespace WHERE nspname = current_schema()),
	mine AS (SELECT c.oid, c.relname FROM pg_class c JOIN here h ON c.relnamespace = h.oid WHERE c.relkind = 'r')
SELECT 'column ' || m.relname::text || '.' || a.attname::text, format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull::text || ' ' || a.attidentity::text
		|| ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
	FROM mine m JOIN pg_attribute a ON a.attrelid = m.oid AND a.attnum > 0 AND NOT a.attisdropped
	LEFT JOIN pg_attrdef d ON d.adrelid = m.oid AND d.adnum = a.attnum
UNION ALL SELECT 'constraint ' || m.relname::text || '.' || o.conname::text, pg_get_constraintdef(o.oid) || ' ' || o.convalidated::text
	FROM mine m JOIN pg_constraint o ON o.conrelid = m.oid
UNION ALL SELECT 'index ' || m.relname::text || '.' || i.relname::text, pg_get_indexdef(i.oid) || ' ' || x.indisvalid::text
	FROM mine m JOIN pg_index x ON x.indrelid = m.oid JOIN pg_class i ON i.oid = x.indexrelid
UNION ALL SELECT 'trigger ' || m.relname::text || '.' || t.tgname::text, pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text
	FROM mine m JOIN pg_trigger t ON t.tgrelid = m.oid AND NOT t.tgisinternal
UNION ALL SELECT 'function ' || p.proname::text, p.prosrc FROM pg_proc p JOIN here h ON p.pronamespace = h.oid
	WHERE NOT EXISTS (SELECT 1 FROM pg_depend e WHERE e.objid = p.oid AND e.deptype = 'e')`

// shape reads the schema as the database has it. The schema's own name is
// taken out of the texts.
func shape(c *conn) (map[string]string, error) {
	schema, err := currentSchema(c)
	if err != nil {
		return nil, err
	}
	names := strings.NewReplacer(schema+".", "", pgx.Identifier{schema}.Sanitize()+".", "")
	out := map[string]string{}
	err = c.query(func(cur *cursor) error {
		name := cur.text()
		out[name] = names.Replace(cur.text())
		return nil
	}, shapeSQL)
	return out, err
}

func currentSchema(c *conn) (string, error) {
	schema := ""
	_, err := c.one(func(cur *cursor) error { schema = cur.text(); return nil }, "SELECT coalesce(current_schema()::text, '')")
	if err == nil && schema == "" {
		err = fmt.Errorf("the search_path of the connection string names no schema that there is")
	}
	return schema, err
}

// inScratch runs fn in a transaction in which an empty schema is the current
// one, and undoes it all, unless fn says that it shall stay.
func inScratch(c *conn, name string, fn func() (stays bool, err error)) error {
	if _, err := c.db.Exec(c.ctx, "BEGIN"); err != nil {
		return err
	}
	schema := pgx.Identifier{name}.Sanitize()
	_, err := c.db.PgConn().Exec(c.ctx, "CREATE SCHEMA "+schema+"; SET LOCAL search_path = "+schema).ReadAll()
	stays := false
	if err == nil {
		stays, err = fn()
	}
	if err == nil && stays {
		return nil
	}
	if _, undo := c.db.Exec(c.ctx, "ROLLBACK"); undo != nil {
		_ = c.db.Close(c.ctx)
	}
	return err
}

// build makes the tables of the first migrations in the current schema,
// inside the open transaction.
func build(c *conn, steps []migration) error {
	if _, err := c.db.Exec(c.ctx, versionTable); err != nil {
		return err
	}
	return extend(c, steps)
}

func extend(c *conn, steps []migration) error {
	for _, m := range steps {
		if err := applyHere(c, m); err != nil {
			return fmt.Errorf("migration %d: %w", m.version, err)
		}
	}
	return nil
}

// freshShape is the shape that migrations make.
func freshShape(c *conn, steps []migration) (out map[string]string, err error) {
	err = inScratch(c, scratchName(), func() (bool, error) {
		if err := build(c, steps); err != nil {
			return false, err
		}
		out, err = shape(c)
		return false, err
	})
	return out, err
}

// table is one of the store's, with its columns.
type table struct {
	name    string
	columns []string
}

// notCopied are tables whose rows belong to a database, not to the store.
var notCopied = []string{"schema_version", "process"}

// listTables lists the tables of the current schema whose rows make the store, so
// that each comes after those that it refers to.
func listTables(c *conn) (out []table, err error) {
	refers := map[string][]string{}
	var all []table
	if err := c.query(func(cur *cursor) error {
		all = append(all, table{cur.text(), strings.Split(cur.text(), " ")})
		return nil
	}, `SELECT c.relname::text, string_agg(a.attname, ' ' ORDER BY a.attnum) FROM pg_class c
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' GROUP BY c.relname ORDER BY c.relname`); err != nil {
		return nil, err
	}
	if err := c.query(func(cur *cursor) error {
		from, to := cur.text(), cur.text()
		refers[from] = append(refers[from], to)
		return nil
	}, `SELECT f.relname::text, t.relname::text FROM pg_constraint o JOIN pg_class f ON f.oid = o.conrelid JOIN pg_class t ON t.oid = o.confrelid
		WHERE o.contype = 'f' AND f.relnamespace = current_schema()::regnamespace AND f.oid <> t.oid`); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(t table) bool { return slices.Contains(notCopied, t.name) })
	return inOrder(all, refers)
}

func inOrder(all []table, refers map[string][]string) (out []table, err error) {
	placed := map[string]bool{}
	for len(out) < len(all) {
		before := len(out)
		for _, t := range all {
			ready := !slices.ContainsFunc(refers[t.name], func(to string) bool { return !placed[to] })
			if ready && !placed[t.name] {
				out, placed[t.name] = append(out, t), true
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("the tables refer to each other in a circle")
		}
	}
	return out, nil
}

// known compares the migrations that a store was made by with this
// program's, and returns those.
func known(made []canon.Digest) ([]migration, error) {
	all, err := migrations()
	if err != nil {
		return nil, err
	}
	if len(made) > len(all) {
		return nil, fmt.Errorf("%w: version %d, this program knows %d", ErrMigration, len(made), len(all))
	}
	for i, d := range made {
		if d != all[i].digest {
			return nil, fmt.Errorf("%w: migration %d differs", ErrMigration, i+1)
		}
	}
	return all, nil
}

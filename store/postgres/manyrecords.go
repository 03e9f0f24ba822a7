package postgres

import (
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// records are those of many changes that are made at once.
type records struct{ events, salts *sheet }

func newRecords() records {
	return records{sheetOf("text", "bigint", "text", "text", "text", "bytea"), sheetOf("text", "bytea")}
}

func (rs records) add(t *tx, r audit.Record, f verbs.Facts, s verbs.Secrets) error {
	e, body, err := t.newEntry(r, f, s)
	if err != nil {
		return err
	}
	rs.events.add(e.ID, e.At, e.Tenant, e.Event, e.Action, body)
	rs.salts.add(e.ID, e.Salt[:])
	return nil
}

// write ends a statement with the records. Where not every one finds the row
// that it tells of, the statement fails.
func (rs records) write(c *compound) step {
	return rs.end(c, "SELECT * FROM "+c.from(rs.events))
}

func (rs records) writeWhere(c *compound, moved string) step {
	return rs.end(c, "SELECT u.* FROM "+c.from(rs.events)+" AS u (id, at, tenant, event, action_id, body) WHERE u.action_id IN ("+moved+")")
}

func (rs records) end(c *compound, source string) step {
	word := ", "
	if c.text.Len() == 0 {
		word = "WITH "
	}
	c.text.WriteString(word + "e AS (INSERT INTO event (id, at, tenant, event, action_id, body) " + source + " RETURNING place, id), s AS (INSERT INTO salt (place, salt) SELECT e.place, u.salt FROM e JOIN " +
		c.from(rs.salts) + " AS u (id, salt) ON u.id = e.id)")
	c.write(" INSERT INTO unnumbered (place) SELECT place FROM e UNION ALL SELECT NULL WHERE (SELECT count(*) FROM e) <> ?::bigint", []any{len(rs.events.cells[0])})
	return do(c.text.String(), c.args...)
}

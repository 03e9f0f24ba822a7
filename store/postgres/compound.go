package postgres

import (
	"strconv"
	"strings"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// compound is one statement that writes to several tables: the server takes
// up, plans and ends one instead of many. Its first part is the new or moved
// row, named a, with its number; where that finds no row, no other part
// writes anything.
type compound struct {
	text strings.Builder
	args []any
}

// compose begins with the part that the others follow.
func compose(sql string, args ...any) *compound {
	c := &compound{args: args}
	c.text.WriteString("WITH a AS (" + sql + " RETURNING seq)")
	return c
}

// with adds a part. Each ? of its text stands for the next of args; a text
// has no other question mark.
func (c *compound) with(name, sql string, args ...any) {
	c.text.WriteString(", " + name + " AS (")
	c.write(sql, args)
	c.text.WriteString(")")
}

func (c *compound) write(sql string, args []any) {
	for _, arg := range args {
		before, after, _ := strings.Cut(sql, "?")
		c.args = append(c.args, arg)
		c.text.WriteString(before + "$" + strconv.Itoa(len(c.args)))
		sql = after
	}
	c.text.WriteString(sql)
}

// recordOf ends a statement with the record of the change. Where there was no
// change to record, the statement fails, and with it the transaction.
func (t *tx) recordOf(c *compound, r audit.Record, f verbs.Facts, s verbs.Secrets) (step, error) {
	e, body, err := t.newEntry(r, f, s)
	if err != nil {
		return step{}, err
	}
	c.with("e", `INSERT INTO event (id, at, tenant, event, action_id, body)
		SELECT ?::text, ?::bigint, ?::text, ?::text, ?::text, ?::bytea FROM a RETURNING place`, e.ID, e.At, e.Tenant, e.Event, e.Action, body)
	c.with("s", "INSERT INTO salt (place, salt) SELECT place, ?::bytea FROM e", e.Salt[:])
	c.write(" INSERT INTO unnumbered (place) SELECT (SELECT place FROM e)", nil)
	return do(c.text.String(), c.args...), nil
}

package postgres

import (
	"bytes"
	"context"
	"io"
	"time"
)

// Packed is a row of every kind of column that can be packed.
type Packed struct {
	Text string
	Int  int64
	Bool bool
	Blob []byte
	Time time.Time
}

// Unpack sends rows to the server in one sheet and reads them back.
func (s *Store) Unpack(ctx context.Context, rows []Packed) (out []Packed, err error) {
	sent := sheetOf("text", "bigint", "boolean", "bytea", "bigint")
	for _, r := range rows {
		sent.add(r.Text, r.Int, r.Bool, r.Blob, r.Time)
	}
	c := &compound{}
	c.text.WriteString("SELECT u.* FROM " + c.from(sent) + " WITH ORDINALITY AS u (a, b, c, d, e, n) ORDER BY u.n")
	err = s.read(ctx, func(db *conn) error {
		return db.query(func(cur *cursor) error {
			out = append(out, Packed{cur.text(), cur.int(), cur.bool(), cur.blob(), cur.time()})
			return nil
		}, c.text.String(), c.args...)
	})
	return out, err
}

// TidyFloor deletes times that the floor has passed, as every gateway does now
// and then.
func (s *Store) TidyFloor(ctx context.Context) error { return s.readOnce(ctx, s.tidyFloor) }

// For tests of the spelling of texts.
var (
	Escape   = escape
	Unescape = unescape
)

// ReadBackup reads the frames of a backup and counts its migrations.
func ReadBackup(r io.Reader) (int, error) {
	made, err := whole(r)
	return len(made), err
}

// SmallBackup is the file of a backup with one table.
func SmallBackup(table string, rows []byte, migrations int) []byte {
	var out bytes.Buffer
	w, err := newFrameWriter(&out)
	for range migrations {
		if err == nil {
			err = w.put(frameMigration, make([]byte, 32))
		}
	}
	if err == nil {
		err = w.names(frameTable, table, "id")
	}
	if err == nil {
		_, err = w.Write(rows)
	}
	if err == nil {
		err = w.end()
	}
	if err != nil {
		panic(err) // it is written to memory
	}
	return out.Bytes()
}

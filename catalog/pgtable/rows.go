package pgtable

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-de4804fb/verbatim/resolve"
)

// Object identifiers of the types that a column may have. Each of these has
// one text for one value. char(n) has not: it is padded.
const (
	typeInt8        = 20
	typeInt2        = 21
	typeInt4        = 23
	typeText        = 25
	typeVarchar     = 1043
	typeTimestamptz = 1184
	typeUUID        = 2950
)

// ask prepares the query first: a statement that answers no rows, or that is
// two, is refused before it runs.
func ask(ctx context.Context, conn *pgconn.PgConn, query string) ([]resolve.Row, error) {
	statement, err := conn.Prepare(ctx, "", query, nil)
	if err != nil {
		return nil, fmt.Errorf("prepare the table's query: %w", err)
	}
	if err := check(statement); err != nil {
		return nil, err
	}
	reader := conn.ExecPrepared(ctx, "", nil, nil, nil)
	rows, err := read(reader)
	if err != nil {
		return nil, err // the caller ends the connection, and with it the rest of the rows
	}
	if _, err := reader.Close(); err != nil {
		return nil, fmt.Errorf("ask for the table's rows: %w", err)
	}
	return rows, nil
}

func check(s *pgconn.StatementDescription) error {
	if n := len(s.Fields); n < 2 || n > 3 || len(s.ParamOIDs) > 0 {
		return ErrQuery
	}
	for i, field := range s.Fields {
		allowed := []uint32{typeText, typeVarchar, typeInt2, typeInt4, typeInt8, typeUUID}
		if i == 2 {
			allowed = []uint32{typeTimestamptz}
		}
		if !slices.Contains(allowed, field.DataTypeOID) {
			return ErrType
		}
	}
	return nil
}

func read(reader *pgconn.ResultReader) ([]resolve.Row, error) {
	var rows []resolve.Row
	size := 0
	for reader.NextRow() {
		row, err := rowOf(reader.Values())
		if err != nil {
			return nil, err
		}
		if size += len(row.Alias) + len(row.ID); len(rows) == MaxRows || size > resolve.MaxTableBytes {
			return nil, ErrRows
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func rowOf(values [][]byte) (resolve.Row, error) {
	if values[0] == nil || values[1] == nil {
		return resolve.Row{}, ErrNull
	}
	row := resolve.Row{Alias: string(values[0]), ID: string(values[1])}
	if len(values) == 2 || values[2] == nil {
		return row, nil
	}
	switch text := string(values[2]); text {
	case "infinity":
	case "-infinity":
		row.Expires = time.Unix(0, 0).UTC() // over for good, and not the zero time, which means never
	default:
		at, err := time.Parse("2006-01-02 15:04:05.999999-07", text)
		if err != nil || at.IsZero() {
			return resolve.Row{}, ErrTime
		}
		row.Expires = at.UTC()
	}
	return row, nil
}

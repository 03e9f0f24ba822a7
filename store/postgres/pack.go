package postgres

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// packed is an array as the server reads it, made without a look at each
// element's type.
type packed []byte

// packedCodec takes packed arrays as they are.
type packedCodec struct{ *pgtype.ArrayCodec }

// PlanEncode leaves what is not packed to the driver.
func (c packedCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(packed); ok && format == pgtype.BinaryFormatCode {
		return asPacked{}
	}
	return c.ArrayCodec.PlanEncode(m, oid, format, value)
}

type asPacked struct{}

func (asPacked) Encode(value any, buf []byte) ([]byte, error) {
	b, ok := value.(packed)
	if !ok {
		return nil, fmt.Errorf("a %T is not packed", value)
	}
	return append(buf, b...), nil
}

// elements are the kinds of columns, by the type of their elements and of
// arrays of them.
var elements = map[string]struct{ one, array uint32 }{
	"bigint":  {pgtype.Int8OID, pgtype.Int8ArrayOID},
	"text":    {pgtype.TextOID, pgtype.TextArrayOID},
	"bytea":   {pgtype.ByteaOID, pgtype.ByteaArrayOID},
	"boolean": {pgtype.BoolOID, pgtype.BoolArrayOID},
}

// acceptPacked prepares a connection for packed arrays.
func acceptPacked(_ context.Context, db *pgx.Conn) error {
	for kind, of := range elements {
		typ, ok := db.TypeMap().TypeForOID(of.array)
		if !ok {
			return fmt.Errorf("the driver knows no array of %s", kind)
		}
		codec, ok := typ.Codec.(*pgtype.ArrayCodec)
		if !ok {
			return fmt.Errorf("the driver's array of %s is none", kind)
		}
		db.TypeMap().RegisterType(&pgtype.Type{Name: typ.Name, OID: typ.OID, Codec: packedCodec{codec}})
	}
	return nil
}

// sheet is many rows for one statement, column by column.
type sheet struct {
	kinds []string
	cells [][]any
}

func sheetOf(kinds ...string) *sheet { return &sheet{kinds: kinds, cells: make([][]any, len(kinds))} }

// add adds a row; it has a value for each column.
func (s *sheet) add(row ...any) {
	for i := range s.kinds {
		s.cells[i] = append(s.cells[i], row[i])
	}
}

func (s *sheet) empty() bool { return len(s.cells[0]) == 0 }

// from is the sheet as a part of a statement, with its arguments behind those
// of the statement.
func (c *compound) from(s *sheet) string { return c.fromAs(s, "$%d::%s[]") }

// fromUnseen is from for a statement outside of a transaction, where the
// planner must not see how many rows there are; see [planOnce].
func (c *compound) fromUnseen(s *sheet) string { return c.fromAs(s, "(SELECT $%d::%s[])") }

func (c *compound) fromAs(s *sheet, form string) string {
	text := "unnest("
	for i, kind := range s.kinds {
		if i > 0 {
			text += ", "
		}
		c.args = append(c.args, column{kind, s.cells[i]})
		text += fmt.Sprintf(form, len(c.args), kind)
	}
	return text + ")"
}

// planOnce has the planner of this transaction keep its plans. It takes the
// few rows of a sheet for a reason to plan each statement anew, which takes
// longer than the statement does.
const planOnce = "SELECT set_config('plan_cache_mode', 'force_generic_plan', true)"

// column is one column of a sheet, to be packed.
type column struct {
	kind  string
	cells []any
}

// pack writes an array in the server's binary form: the number of dimensions,
// whether there are NULLs, the type of the elements, their number, the first
// index; then each with its length, which is -1 for NULL.
func (c column) pack() (packed, error) {
	cells, err := bind(c.cells)
	if err != nil {
		return nil, err
	}
	if len(cells) == 0 {
		return binary.BigEndian.AppendUint32(make(packed, 8, 12), elements[c.kind].one), nil
	}
	b := make(packed, 20, 20+16*len(cells))
	binary.BigEndian.PutUint32(b, 1)
	binary.BigEndian.PutUint32(b[4:], 1)
	binary.BigEndian.PutUint32(b[8:], elements[c.kind].one)
	binary.BigEndian.PutUint32(b[12:], uint32(len(cells)))
	binary.BigEndian.PutUint32(b[16:], 1)
	for _, cell := range cells {
		if b, err = c.element(b, cell); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (c column) element(b packed, cell any) (packed, error) {
	is := ""
	switch v := cell.(type) {
	case nil:
		return binary.BigEndian.AppendUint32(b, 1<<32-1), nil
	case []byte:
		if v == nil {
			return binary.BigEndian.AppendUint32(b, 1<<32-1), nil
		}
		is, b = "bytea", append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
	case string:
		is, b = "text", append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
	case int64:
		is, b = "bigint", binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, 8), uint64(v))
	case bool:
		is, b = "boolean", append(binary.BigEndian.AppendUint32(b, 1), 0)
		if v {
			b[len(b)-1] = 1
		}
	}
	if is != c.kind {
		return nil, fmt.Errorf("a column of %s holds no %T", c.kind, cell)
	}
	return b, nil
}

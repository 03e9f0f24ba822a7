package resolve

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// MaxTableBytes is the longest table file.
const MaxTableBytes = 16 << 20

// RowParser reads the rows of one file format. It must refuse what has two
// readings, duplicate keys first of all.
type RowParser func(data []byte) ([]Row, error)

// settled is how old a file must be before its time stamp is believed: an
// edit within the clock's grain of the last one leaves the same stamp.
const settled = 2 * time.Second

// tableFile re-reads a file when it may have changed.
type tableFile struct {
	path   string
	parse  RowParser
	info   os.FileInfo // at the last reading; nil: read again
	readAt time.Time
	digest canon.Digest
}

// OpenTable reads a table from a file and follows its changes: the next call
// after an edit sees the new rows. If the file is gone or does not parse any
// more, calls are refused; the old rows are not used. The version of its
// answers is the digest of the file.
func OpenTable(path string, parse RowParser, opt TableOptions) (*Table, error) {
	opt, err := opt.compiled()
	if err != nil {
		return nil, err
	}
	t := &Table{opt: opt, file: &tableFile{path: path, parse: parse}}
	if _, err := t.current(context.Background()); err != nil {
		return nil, err
	}
	return t, nil
}

// read returns the file's content if it differs from the last reading.
func (f *tableFile) read() (data []byte, changed bool, err error) {
	info, err := os.Stat(f.path)
	if err != nil {
		f.forget()
		return nil, false, fmt.Errorf("read table: %w", err)
	}
	if f.unchanged(info) {
		return nil, false, nil
	}
	readAt := time.Now()
	if data, err = readFile(f.path); err != nil {
		f.forget()
		return nil, false, err
	}
	digest := canon.Sum(data)
	changed = f.info == nil || digest != f.digest
	f.info, f.readAt, f.digest = info, readAt, digest
	return data, changed, nil
}

func (f *tableFile) unchanged(info os.FileInfo) bool {
	return f.info != nil && os.SameFile(info, f.info) && info.Size() == f.info.Size() &&
		info.ModTime().Equal(f.info.ModTime()) && f.readAt.Sub(info.ModTime()) > settled
}

func (f *tableFile) forget() { f.info = nil }

func (f *tableFile) index(data []byte, opt TableOptions) (index, error) {
	rows, err := f.parse(data)
	if err != nil {
		// Not wrapped: violations in the file are none in the arguments.
		return index{}, fmt.Errorf("table %s: %v", f.path, err)
	}
	ix, err := newIndex(rows, opt)
	if err != nil {
		return index{}, fmt.Errorf("table %s: %w", f.path, err)
	}
	ix.version = "sha256:" + short(f.digest)
	return ix, nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxTableBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	if len(data) > MaxTableBytes {
		return nil, fmt.Errorf("table %s is longer than %d bytes", path, MaxTableBytes)
	}
	return data, nil
}

var errHeader = errors.New(`first line must be "alias,id" or "alias,id,expires"`)

// ParseCSV reads RFC 4180 lines under the header alias,id or
// alias,id,expires. An expiry is an RFC 3339 time, or empty for none. One
// alias on several lines with different ids is ambiguous when it is asked
// for; that is how a list of people with one name looks.
func ParseCSV(data []byte) ([]Row, error) {
	r := csv.NewReader(bytes.NewReader(data))
	header, err := r.Read()
	if err != nil {
		return nil, errHeader
	}
	if len(header) < 2 || len(header) > 3 || header[0] != "alias" || header[1] != "id" || len(header) == 3 && header[2] != "expires" {
		return nil, errHeader
	}
	var rows []Row
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		row := Row{Alias: fields[0], ID: fields[1]}
		line, _ := r.FieldPos(0)
		if len(fields) == 3 {
			if row.Expires, err = parseExpiry(fields[2]); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
		}
		rows = append(rows, row)
	}
}

var errExpires = errors.New("expires is not an RFC 3339 time")

func parseExpiry(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, errExpires
	}
	return at, nil
}

// ParseJSON reads a JSON table: an object from alias to id, or an array of
// objects with alias, id and, if they expire, expires. Duplicate names and
// unknown members are refused.
func ParseJSON(data []byte) ([]Row, error) {
	v, err := canon.Decode(data, canon.Options{MaxBytes: MaxTableBytes, MaxNodes: canon.CeilingNodes, Exact: true})
	if err != nil {
		return nil, err
	}
	return RowsOf(v)
}

// RowsOf reads the rows of a table from a value in the form of [ParseJSON],
// for formats that are decoded elsewhere.
func RowsOf(v canon.Value) ([]Row, error) {
	switch v.Kind() {
	case canon.Object:
		rows := make([]Row, 0, v.Len())
		for i := range v.Len() {
			alias, id := v.Member(i)
			if id.Kind() != canon.String {
				return nil, canon.Refuse(canon.JoinPointer("", alias), "type", "an id as a string")
			}
			rows = append(rows, Row{Alias: alias, ID: id.Text()})
		}
		return rows, nil
	case canon.Array:
		rows := make([]Row, 0, v.Len())
		for i := range v.Len() {
			row, err := rowOf(v.At(i), canon.JoinIndex("", i))
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return rows, nil
	default:
		return nil, canon.Refuse("", "type", "an object from alias to id, or an array of rows")
	}
}

func rowOf(v canon.Value, at string) (Row, error) {
	if v.Kind() != canon.Object {
		return Row{}, canon.Refuse(at, "type", "an object with alias and id")
	}
	var row Row
	for i := range v.Len() {
		name, x := v.Member(i)
		here := canon.JoinPointer(at, name)
		if x.Kind() != canon.String {
			return Row{}, canon.Refuse(here, "type", "a string")
		}
		switch name {
		case "alias":
			row.Alias = x.Text()
		case "id":
			row.ID = x.Text()
		case "expires":
			expires, err := parseExpiry(x.Text())
			if err != nil {
				return Row{}, canon.Refuse(here, "format", "an RFC 3339 time")
			}
			row.Expires = expires
		default:
			return Row{}, canon.Refuse(here, "unknown", "alias, id or expires")
		}
	}
	return row, nil
}

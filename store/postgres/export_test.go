package postgres

import (
	"bytes"
	"io"
)

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

package yamlfile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/catalog/pgtable"
	"github.com/seed-de4804fb/verbatim/catalog/sqltable"
	"github.com/seed-de4804fb/verbatim/resolve"
)

func makeTable(r *reader, c resolver, field string) (resolve.Resolver, error) {
	opt := resolve.TableOptions{Fold: c.Fold, Integer: c.Integer, Pass: c.Pass}
	if err := checkTable(c); err != nil {
		return nil, err
	}
	switch {
	case c.URL != "":
		return makeRemoteTable(r, c, opt)
	case c.SQLite != "":
		return makeSQLTable(r, c, opt)
	case c.Postgres != nil:
		return makePostgresTable(r, c, opt)
	}
	if c.Rows != nil {
		rows, err := resolve.RowsOf(value(&r.faults, c.Rows, join(field, "rows")))
		if err != nil {
			return nil, err
		}
		return resolve.NewTable(rows, opt)
	}
	parser, ok := parsers[strings.ToLower(filepath.Ext(c.File))]
	if !ok {
		return nil, errors.New("a table file ends in .csv, .json, .yaml or .yml")
	}
	return resolve.OpenTable(r.path(c.File), parser, opt)
}

// checkTable refuses settings of which one says nothing or the contrary of
// another.
func checkTable(c resolver) error {
	given := 0
	for _, is := range []bool{c.File != "", c.Rows != nil, c.URL != "", c.SQLite != "", c.Postgres != nil} {
		if is {
			given++
		}
	}
	database := c.SQLite != "" || c.Postgres != nil
	switch {
	case given != 1:
		return errors.New("a table needs either file, rows, url, sqlite or postgres")
	case database != (c.Query != ""):
		return errors.New("sqlite or postgres, and query belong together")
	case (len(c.Networks) > 0 || c.Auth != nil || c.CA != nil) && c.URL == "":
		return errors.New("networks, auth and ca are for a table with a url")
	case c.Refresh != "" && c.URL == "" && !database:
		return errors.New("refresh is for a table with a url, sqlite or postgres")
	}
	return nil
}

var parsers = map[string]resolve.RowParser{
	".csv": resolve.ParseCSV, ".json": resolve.ParseJSON, ".yaml": ParseRows, ".yml": ParseRows,
}

// ParseRows reads a YAML table for a resolver, in the form of
// [resolve.ParseJSON].
func ParseRows(data []byte) ([]resolve.Row, error) {
	root, err := parse("table", data)
	if err != nil {
		return nil, err
	}
	f := &faults{file: "table"}
	v := value(f, root, "")
	if len(f.list) > 0 {
		return nil, errors.Join(f.list...)
	}
	return resolve.RowsOf(v)
}

// defaultRefresh is how long rows from a URL or a database are believed.
const defaultRefresh = 5 * time.Second

func refreshOf(c resolver) (time.Duration, error) {
	if c.Refresh == "" {
		return defaultRefresh, nil
	}
	refresh, err := time.ParseDuration(c.Refresh)
	if err != nil || refresh < 0 || refresh > resolve.MaxRefresh {
		return 0, fmt.Errorf("refresh must be 0s to %s", resolve.MaxRefresh)
	}
	return refresh, nil
}

func makeSQLTable(r *reader, c resolver, opt resolve.TableOptions) (resolve.Resolver, error) {
	refresh, err := refreshOf(c)
	if err != nil {
		return nil, err
	}
	source, err := sqltable.Open(context.Background(), r.path(c.SQLite), c.Query)
	if err != nil {
		return nil, err
	}
	return resolve.NewSourceTable(source, refresh, opt)
}

func makePostgresTable(r *reader, c resolver, opt resolve.TableOptions) (resolve.Resolver, error) {
	refresh, err := refreshOf(c)
	if err != nil {
		return nil, err
	}
	dsn, err := r.secret(*c.Postgres)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	source, err := pgtable.New(dsn, c.Query)
	if err != nil {
		return nil, err
	}
	return resolve.NewSourceTable(source, refresh, opt)
}

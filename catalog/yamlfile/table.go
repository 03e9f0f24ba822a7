package yamlfile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog/sqltable"
	"github.com/seed-de4804fb/verbatim/internal/netguard"
	"github.com/seed-de4804fb/verbatim/resolve"
)

func makeTable(r *reader, c resolver, field string) (resolve.Resolver, error) {
	opt := resolve.TableOptions{Fold: c.Fold, Integer: c.Integer}
	given := 0
	for _, is := range []bool{c.File != "", c.Rows != nil, c.URL != "", c.SQLite != ""} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, errors.New("a table needs either file, rows, url or sqlite")
	case (c.SQLite == "") != (c.Query == ""):
		return nil, errors.New("sqlite and query belong together")
	case len(c.Networks) > 0 && c.URL == "":
		return nil, errors.New("networks are for a table with a url")
	case c.URL != "":
		return makeRemoteTable(c, opt)
	case c.SQLite != "":
		return makeSQLTable(r, c, opt)
	case c.Refresh != "":
		return nil, errors.New("refresh is for a table with a url or sqlite")
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

func makeRemoteTable(c resolver, opt resolve.TableOptions) (resolve.Resolver, error) {
	refresh, err := refreshOf(c)
	if err != nil {
		return nil, err
	}
	listed, err := networks(c.Networks)
	if err != nil {
		return nil, err
	}
	client, err := netguard.New(netguard.Options{Networks: listed, MaxBytes: resolve.MaxTableBytes})
	if err != nil {
		return nil, err
	}
	if err := client.CheckURL(c.URL); err != nil {
		return nil, err
	}
	return resolve.NewSourceTable(remoteTable{client, c.URL}, refresh, opt)
}

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

// remoteTable is a JSON table behind a URL.
type remoteTable struct {
	client *netguard.Client
	url    string
}

// Rows fetches the table. Its version is the digest of the bytes.
func (r remoteTable) Rows(ctx context.Context) ([]resolve.Row, string, error) {
	data, err := r.client.Get(ctx, r.url)
	if err != nil {
		return nil, "", err
	}
	rows, err := resolve.ParseJSON(data)
	return rows, "sha256:" + canon.Sum(data).String()[:16], err
}

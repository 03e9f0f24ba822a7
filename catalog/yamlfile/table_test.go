package yamlfile_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
)

const remote = `version: "1"
resolvers:
  vendors: {kind: table, %s}
tools:
  t:
    schema: {type: object, properties: {to: {type: string}}}
    resolve: [{use: vendors, from: /to, into: /to}]
`

func TestTableBehindAURLIsFollowed(t *testing.T) {
	t.Parallel()
	var body atomic.Value
	body.Store(`{"Acme":"V1"}`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if text := body.Load().(string); text != "" {
			fmt.Fprint(w, text)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	text := fmt.Sprintf(remote, `url: "`+server.URL+`/vendors", networks: [127.0.0.1/32], refresh: 0s, fold: true`)
	tools, err := yamlfile.Decode("c.yaml", []byte(text), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ body, want string }{
		{`{"Acme":"V1"}`, `{"to":"V1"}`},
		{`[{"alias":"acme","id":"V2"}]`, `{"to":"V2"}`},
		{``, ""},
		{`{"Acme":"V1","Acme":"V2"}`, ""},
		{`{"Acme":7}`, ""},
		{`<html>`, ""},
		{`{"Globex":"V1"}`, ""},
		{`{"Acme":"V3"}`, `{"to":"V3"}`},
	} {
		body.Store(c.body)
		got, err := resolved(t, tools[0], `{"to":"ACME"}`)
		if c.want == "" {
			got = ""
			if err == nil || strings.Contains(err.Error(), server.URL) || strings.Contains(err.Error(), "ACME") {
				t.Errorf("%s: %v", c.body, err)
			}
		} else if err != nil {
			t.Errorf("%s: %v", c.body, err)
		}
		if got != c.want {
			t.Errorf("%s: got %s", c.body, got)
		}
	}
}

func TestTableBehindAURLIsChecked(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string]string{
		"plain http":                 `url: "http://tables.example/"`,
		"a user":                     `url: "https://u:p@tables.example/"`,
		"no URL":                     `url: tables`,
		"a file as well":             `url: "https://tables.example/", file: v.csv`,
		"rows as well":               `url: "https://tables.example/", rows: {a: b}`,
		"a bad network":              `url: "https://tables.example/", networks: [10.0.0.1]`,
		"every network":              `url: "https://tables.example/", networks: [0.0.0.0/0]`,
		"a long refresh":             `url: "https://tables.example/", refresh: 1h`,
		"a negative refresh":         `url: "https://tables.example/", refresh: -1s`,
		"a refresh without unit":     `url: "https://tables.example/", refresh: "5"`,
		"a refresh without url":      `rows: {a: b}, refresh: 5s`,
		"a network without url":      `rows: {a: b}, networks: [10.0.0.0/8]`,
		"a database that is absent":  `sqlite: absent.db, query: "SELECT 1, 2"`,
		"a database without a query": `sqlite: absent.db`,
		"a query without a database": `rows: {a: b}, query: "SELECT 1, 2"`,
		"a network for a database":   `sqlite: absent.db, query: "SELECT 1, 2", networks: [10.0.0.0/8]`,
		"an address of the cloud":    `url: "http://169.254.169.254/latest/meta-data/"`,
	} {
		if _, err := yamlfile.Decode("c.yaml", fmt.Appendf(nil, remote, fields), "."); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := yamlfile.Decode("c.yaml", fmt.Appendf(nil, remote, `url: "https://tables.example/"`), "."); err != nil {
		t.Errorf("a source that nobody can reach keeps the catalog from loading: %v", err)
	}
}

func TestTableInADatabaseIsFollowed(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	db, err := sqlite3.Open(filepath.Join(dir, "v.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := db.Exec("CREATE TABLE v (n, id); INSERT INTO v VALUES ('Acme', 'V1')"); err != nil {
		t.Fatal(err)
	}
	tools, err := yamlfile.Decode("c.yaml", fmt.Appendf(nil, remote, `sqlite: v.db, query: "SELECT n, id FROM v", refresh: 0s`), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"V1", "V2"} {
		if err := db.Exec("UPDATE v SET id = '" + id + "'"); err != nil {
			t.Fatal(err)
		}
		if got, err := resolved(t, tools[0], `{"to":"Acme"}`); err != nil || got != `{"to":"`+id+`"}` {
			t.Errorf("%s: %s, %v", id, got, err)
		}
	}
}

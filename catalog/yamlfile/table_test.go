package yamlfile_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
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

func TestTableInPostgreSQLIsConfiguredWithoutASecretInTheFile(t *testing.T) {
	t.Setenv("VERBATIM_TEST_DSN", "host=127.0.0.1 port=1 user=u password=geheim sslmode=disable connect_timeout=1")
	dir := realDir(t)
	for name, fields := range map[string]string{
		"from the environment": `postgres: {env: VERBATIM_TEST_DSN}`,
		"from a file":          `postgres: {file: dsn}`,
		"not there yet":        `postgres: {file: absent}`,
		"not set yet":          `postgres: {env: VERBATIM_TEST_ABSENT}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, "dsn"), []byte("host=db.example password=geheim\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		tools, err := yamlfile.Decode("c.yaml", fmt.Appendf(nil, remote, fields+`, query: "SELECT 1, 2"`), dir)
		if err != nil {
			t.Errorf("%s: a database that nobody can reach keeps the catalog from loading: %v", name, err)
			continue
		}
		if got, err := resolved(t, tools[0], `{"to":"Acme"}`); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for name, fields := range map[string]string{
		"in the clear":       `postgres: "host=db.example", query: "SELECT 1, 2"`,
		"both":               `postgres: {env: A, file: b}, query: "SELECT 1, 2"`,
		"none":               `postgres: {}, query: "SELECT 1, 2"`,
		"no name":            `postgres: {env: "A B"}, query: "SELECT 1, 2"`,
		"no query":           `postgres: {env: A}`,
		"a second database":  `postgres: {env: A}, sqlite: v.db, query: "SELECT 1, 2"`,
		"auth without url":   `postgres: {env: A}, query: "SELECT 1, 2", auth: {env: B}`,
		"ca without url":     `rows: {a: b}, ca: {env: B}`,
		"auth in the clear":  `url: "https://tables.example/", auth: "Bearer geheim"`,
		"auth over http":     `url: "http://10.0.0.1/", networks: [10.0.0.0/8], auth: {env: B}`,
		"a header of two":    `url: "https://tables.example/", auth: {env: B, header: "a: b"}`,
		"another host":       `url: "https://tables.example/", auth: {env: B, header: Host}`,
		"a pattern for all":  `rows: {a: b}, pass: ".*"`,
		"a pattern for none": `rows: {a: b}, pass: "("`,
	} {
		if _, err := yamlfile.Decode("c.yaml", fmt.Appendf(nil, remote, fields), dir); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestTableBehindAURLHasASecretAndACertificateOfItsOwn(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "geheim" && r.Header.Get("Authorization") != "Bearer geheim" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"Acme":"V1"}`)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	dir := realDir(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	t.Setenv("VERBATIM_TEST_KEY", "geheim")
	for _, c := range []struct{ name, key, fields, want string }{
		{"a header", "", `, ca: {file: ca.pem}, auth: {header: X-Key, env: VERBATIM_TEST_KEY}`, `{"to":"V1"}`},
		{"an authorization", "Bearer geheim\n", `, ca: {file: ca.pem}, auth: {file: key}`, `{"to":"V1"}`},
		{"a changed secret", "Bearer other", `, ca: {file: ca.pem}, auth: {file: key}`, ""},
		{"two lines", "Bearer geheim\nX-Key: geheim", `, ca: {file: ca.pem}, auth: {file: key}`, ""},
		{"no secret", "", `, ca: {file: ca.pem}`, ""},
		{"a secret that is not there", "", `, ca: {file: ca.pem}, auth: {env: VERBATIM_TEST_ABSENT}`, ""},
		{"a certificate that nobody has signed", "Bearer geheim", `, auth: {file: key}`, ""},
		{"a certificate that is none", "Bearer geheim", `, ca: {file: key}, auth: {file: key}`, ""},
	} {
		write("key", c.key)
		fields := `url: "` + server.URL + `/vendors", networks: [127.0.0.1/32], refresh: 0s` + c.fields
		tools, err := yamlfile.Decode("c.yaml", fmt.Appendf(nil, remote, fields), dir)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := resolved(t, tools[0], `{"to":"Acme"}`)
		if c.want == "" {
			got = ""
		}
		if got != c.want || (err == nil) != (c.want != "") || err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
	}
}

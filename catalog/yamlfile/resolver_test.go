package yamlfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
	"github.com/seed-de4804fb/verbatim/resolve"
)

const kinds = `version: "1"
resolvers:
  mail: {kind: email, domains: [example.com]}
  when: {kind: instant, precision: s, notBefore: "2026-01-01T00:00:00Z", notAfter: "2026-12-31T23:59:59Z"}
  files: {kind: path, roots: [reports], relativeTo: reports, create: true}
  size: {kind: quantity, dimension: bytes, base: B, unit: MB, units: {KB: "1024"}}
  hooks: {kind: url, schemes: [https], hosts: [example.com, 10.1.2.3], ports: [8443], networks: [10.2.0.0/16]}
tools:
  t:
    schema:
      type: object
      properties: {to: {type: string}, at: {type: string}, file: {type: string}, bytes: {type: integer}, url: {type: string}}
    proposalSchema:
      type: object
      properties: {to: {type: string}, at: {type: string}, file: {type: string}, size: {type: [string, number]}, url: {type: string}}
    resolve:
      - {use: mail, from: /to, into: /to}
      - {use: when, from: /at, into: /at}
      - {use: files, from: /file, into: /file}
      - {use: size, from: {text: /size}, into: /bytes}
      - {use: hooks, from: /url, into: /url}
`

// realDir is a folder without links on the way, as roots must be.
func realDir(t testing.TB, folders ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if err := os.MkdirAll(filepath.Join(dir, f), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func resolved(t testing.TB, tool *catalog.Tool, args string) (string, error) {
	t.Helper()
	v, err := canon.Decode([]byte(args), canon.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	out, _, _, err := resolve.Apply(t.Context(), tool.Resolvers, v, time.Now())
	return string(out.Canonical()), err
}

func TestEveryKindOfResolverLoads(t *testing.T) {
	t.Parallel()
	dir := realDir(t, "reports/2026")
	tools, err := yamlfile.Decode("catalog.yaml", []byte(kinds), dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := resolved(t, tools[0], `{"to":"bob@EXAMPLE.com","at":"2026-03-01T13:00:00+01:00","file":"./2026/../2026/new.txt","size":"1.5 KB","url":"HTTPS://10.2.7.7:8443"}`)
	want := `{"at":"2026-03-01T12:00:00Z","bytes":1536,"file":"` + filepath.ToSlash(dir) + `/reports/2026/new.txt","to":"bob@example.com","url":"https://10.2.7.7:8443/"}`
	if err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	for args, want := range map[string]string{
		`{"to":"bob@example.org"}`:        "target_unresolved /to",
		`{"at":"2026-03-01T12:00:00.5Z"}`: "instant /at",
		`{"at":"2025-03-01T12:00:00Z"}`:   "range /at",
		`{"at":"2027-03-01T12:00:00Z"}`:   "range /at",
		`{"file":"../x"}`:                 "target_unresolved /file",
		`{"size":"1 GiBi"}`:               "unit /size",
		`{"size":1}`:                      "",
		`{"url":"http://example.com/"}`:   "url /url",
		`{"url":"https://example.org/"}`:  "target_unresolved /url",
		`{"url":"https://10.1.2.3/"}`:     "",
		`{"url":"https://example.com:1"}`: "target_unresolved /url",
	} {
		got := ""
		if _, err := resolved(t, tools[0], args); err != nil {
			var vs canon.Violations
			if !errors.As(err, &vs) {
				t.Fatal(err)
			}
			got = vs[0].Rule + " " + vs[0].Pointer
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}

func TestResolversWithMistakesAreRefusedWhereTheyStand(t *testing.T) {
	t.Parallel()
	dir := realDir(t, "reports")
	if err := os.Symlink("reports", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"{kind: Path}":                                              "c.yaml:3: resolvers.r.kind: must be one of email, instant, money, path, quantity, table, url",
		"{kind: path}":                                              "c.yaml:3: resolvers.r: a path resolver needs at least one root",
		"{kind: path, roots: [nothing]}":                            "c.yaml:3: resolvers.r: root",
		"{kind: path, roots: ['']}":                                 "c.yaml:3: resolvers.r: a folder has a name",
		"{kind: path, roots: [link]}":                               "not a real path; write",
		"{kind: path, roots: [reports], relativeTo: .}":             "lies below no root",
		"{kind: path, roots: reports}":                              "resolvers.r.roots: must be a list",
		"{kind: path, roots: [reports], hosts: [a.example]}":        "resolvers.r.hosts: is for url, not for path",
		"{kind: url, fold: true}":                                   "resolvers.r.fold: is for money, not for url",
		"{kind: url, hosts: ['*']}":                                 "c.yaml:3: resolvers.r: host",
		"{kind: url, schemes: [file]}":                              "c.yaml:3: resolvers.r: scheme",
		"{kind: url, networks: [10.0.0.1]}":                         "c.yaml:3: resolvers.r: network",
		"{kind: url, networks: [10.0.0.1/8]}":                       "c.yaml:3: resolvers.r: network",
		"{kind: url, ports: ['80']}":                                "resolvers.r.ports[0]: must be a whole number",
		"{kind: url, ports: [65536]}":                               "resolvers.r.ports[0]: must be a whole number up to 65535",
		"{kind: url, ports: [0x50]}":                                "resolvers.r.ports[0]: must be a whole number up to 65535",
		"{kind: url, ports: [0]}":                                   "there is no port 0",
		"{kind: email, domains: [localhost]}":                       "c.yaml:3: resolvers.r: domain",
		"{kind: email, unit: B}":                                    "resolvers.r.unit: is for quantity, not for email",
		"{kind: instant, precision: minute}":                        "c.yaml:3: resolvers.r: precision",
		"{kind: instant, notBefore: yesterday}":                     "c.yaml:3: resolvers.r: notBefore",
		"{kind: instant, notAfter: 2026-01-01T00:00:00Z}":           "resolvers.r.notAfter: must be a string; quote it",
		"{kind: quantity}":                                          "c.yaml:3: resolvers.r: base unit",
		"{kind: quantity, dimension: bytes, base: KB}":              "c.yaml:3: resolvers.r: base unit",
		"{kind: quantity, base: x, units: {y: 2}}":                  "resolvers.r.units.y: must be a string; quote it",
		"{kind: quantity, dimension: bytes, base: B, rows: {a: b}}": "resolvers.r.rows: is for table, not for quantity",
	} {
		_, err := yamlfile.Decode("c.yaml", []byte("version: \"1\"\nresolvers:\n  r: "+text+"\n"), dir)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

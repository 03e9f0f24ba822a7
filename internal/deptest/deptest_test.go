package deptest_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/deptest"
)

const module = "github.com/seed-de4804fb/verbatim"

func TestThisModuleKeepsItsRules(t *testing.T) {
	t.Parallel()
	m, err := deptest.Load(os.DirFS("../.."), module)
	if err != nil {
		t.Fatal(err)
	}
	// A checker that reads nothing finds nothing.
	for _, want := range []string{".", "canon", "execute", "policy", "approval", "audit", "internal/permit"} {
		if !slices.Contains(m.Packages(), want) {
			t.Errorf("package %s was not read", want)
		}
	}
	for _, f := range m.Check(deptest.Verbatim()) {
		t.Error(f)
	}
}

// TestEveryRuleIsSeenFailing plants one breach each in a tree that is clean
// otherwise.
func TestEveryRuleIsSeenFailing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file, source string
		want               []string // places with what, without the reason
	}{
		{"a clean file", "canon/a.go", "package canon\nimport \"strings\"\n", nil},
		{"execute imports the schema", "execute/a.go", own("execute", "schema"), []string{"execute/a.go:2: execute imports schema"}},
		{"execute imports an engine", "execute/a.go", own("execute", "policy/cedar"), []string{"execute/a.go:2: execute imports policy/cedar"}},
		{"execute imports approval", "execute/a.go", own("execute", "approval"), []string{"execute/a.go:2: execute imports approval"}},
		{"policy imports the decoder", "policy/a.go", own("policy", "decode"),
			[]string{"policy/a.go:2: policy imports decode", "policy/a.go:2: policy imports decode"}},
		{"policy imports a resolver", "policy/a.go", own("policy", "resolve"), []string{"policy/a.go:2: policy imports resolve"}},
		{"an engine may read the schema model", "policy/cedar/a.go", own("cedar", "schema"), nil},
		{"an engine reads raw arguments", "policy/cedar/a.go", own("cedar", "decode"), []string{"policy/cedar/a.go:2: policy/cedar imports decode"}},
		{"approval imports the schema", "approval/a.go", own("approval", "schema"), []string{"approval/a.go:2: approval imports schema"}},
		{"audit imports the action", "audit/a.go", own("audit", "action"), []string{"audit/a.go:2: audit imports action"}},
		{"audit may import keys", "audit/a.go", own("audit", "keys"), nil},
		{"the gateway imports a store", "mcp/gate/a.go", own("gate", "store/sqlite"), []string{"mcp/gate/a.go:2: mcp/gate imports store/sqlite"}},
		{"pages import a store", "web/a.go", own("web", "store/sqlite"), []string{"web/a.go:2: web imports store/sqlite"}},
		{"a step imports the gate", "policy/a.go", "package policy\nimport _ \"" + module + "\"\n", []string{"policy/a.go:2: policy imports ."}},
		{"the gate imports an engine", "a.go", own("verbatim", "policy/cedar"), []string{"a.go:2: . imports policy/cedar"}},
		{"a store decides", "store/sqlite/a.go", own("sqlite", "policy"), []string{"store/sqlite/a.go:2: store/sqlite imports policy"}},

		{"a step imports a library", "canon/a.go", "package canon\nimport _ \"golang.org/x/crypto/argon2\"\n",
			[]string{"canon/a.go:2: canon imports golang.org/x/crypto/argon2, and the gate pulls it in"}},
		{"what a step pulls in imports a library", "keys/a.go", "package keys\nimport _ \"golang.org/x/crypto/argon2\"\n",
			[]string{"keys/a.go:2: keys imports golang.org/x/crypto/argon2, and the gate pulls it in"}},
		{"resolve may use decimals", "resolve/a.go", "package resolve\nimport _ \"github.com/cockroachdb/apd/v3\"\n", nil},
		{"decimals are for resolve", "web/a.go", "package web\nimport _ \"github.com/cockroachdb/apd/v3\"\n",
			[]string{"web/a.go:2: web imports github.com/cockroachdb/apd/v3"}},
		{"a page imports the database driver", "web/a.go", "package web\nimport _ \"github.com/ncruces/go-sqlite3/driver\"\n",
			[]string{"web/a.go:2: web imports github.com/ncruces/go-sqlite3/driver"}},
		{"a longer name is another library", "store/sqlite/a.go", "package sqlite\nimport _ \"github.com/ncruces/go-sqlite3-extra\"\n",
			[]string{"store/sqlite/a.go:2: store/sqlite imports github.com/ncruces/go-sqlite3-extra"}},
		{"a library that nobody named", "cmd/verbatim/a.go", "package main\nimport _ \"example.org/lib\"\n",
			[]string{"cmd/verbatim/a.go:2: cmd/verbatim imports example.org/lib"}},
		{"tests may import any library", "canon/a_test.go", "package canon_test\nimport _ \"example.org/lib\"\n", nil},
		{"cgo", "web/a.go", "package web\nimport \"C\"\n", []string{"web/a.go:2: web uses cgo"}},
		{"testing in the product", "web/a.go", "package web\nimport _ \"testing\"\n", []string{"web/a.go:2: web imports testing"}},
		{"testing in a suite for stores", "store/storetest/a.go", "package storetest\nimport _ \"testing\"\n", nil},

		{"another package makes a permit", "mcp/gate/a.go", permit("gate", ""), []string{"mcp/gate/a.go:3: mcp/gate uses permit.Issue"}},
		{"under another name", "execute/a.go", permit("execute", "p"), []string{"execute/a.go:3: execute uses p.Issue"}},
		{"with a dot", "execute/a.go", "package execute\nimport . \"" + module + "/internal/permit\"\n",
			[]string{"execute/a.go:2: execute imports github.com/seed-de4804fb/verbatim/internal/permit with a dot"}},
		{"the gate makes permits", "a.go", permit("verbatim", ""), nil},
		{"tests make permits", "execute/a_test.go", permit("execute_test", ""), nil},
		{"lenient JSON", "web/a.go", "package web\nimport \"encoding/json\"\nvar _ = json.Unmarshal\n", []string{"web/a.go:3: web uses json.Unmarshal"}},
		{"a lenient decoder", "cmd/verbatim/a.go", "package main\nimport \"encoding/json\"\nvar _ = json.NewDecoder(nil)\n",
			[]string{"cmd/verbatim/a.go:3: cmd/verbatim uses json.NewDecoder"}},
		{"writing JSON", "web/a.go", "package web\nimport \"encoding/json\"\nvar _ = json.Marshal\n", nil},
		{"a security fact in a context", "web/a.go", "package web\nimport \"context\"\nvar _ = context.WithValue\n",
			[]string{"web/a.go:3: web uses context.WithValue"}},

		{"a file for another system is read too", "web/a_windows.go", "//go:build windows\n\npackage web\nimport \"C\"\n",
			[]string{"web/a_windows.go:4: web uses cgo"}},
		{"a package called util", "web/util/a.go", "package util\n", []string{"web/util/a.go:1: package util"}},
		{"a package called helper elsewhere", "web/shape/a.go", "package helper\n", []string{"web/shape/a.go:1: package helper"}},
		{"a directory called common", "web/common/a.go", "package shape\n", []string{"web/common/a.go:1: package shape"}},
		{"an init function", "web/a.go", "package web\nfunc init() {}\n", []string{"web/a.go:2: package web has an init function"}},
		{"a method called init", "web/a.go", "package web\ntype t int\nfunc (t) init() {}\n", nil},
		{"a test inside the package", "web/a_test.go", "package web\n", []string{"web/a_test.go:1: test file in package web"}},
		{"a test of a program", "cmd/verbatim/a_test.go", "package main\n", nil},
		{"an opening for tests", "web/export_test.go", "package web\n", nil},
		{"testdata is not read", "web/testdata/a.go", "package util\nfunc init() {}\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rules := deptest.Verbatim()
			rules.Reviewed = nil // of files that are not here
			var got []string
			for _, f := range check(t, rules, tt.file, tt.source) {
				if f.Because == "" {
					t.Errorf("%s has no reason", f)
				}
				got = append(got, f.Place+": "+f.What)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatTestsPullInCostsAnEmbedderNothing(t *testing.T) {
	t.Parallel()
	m, err := deptest.Load(fstest.MapFS{
		"gate.go":           {Data: []byte("package verbatim\n")},
		"gate_test.go":      {Data: []byte("package verbatim_test\nimport _ \"" + module + "/store/sqlite\"\n")},
		"store/sqlite/a.go": {Data: []byte("package sqlite\nimport _ \"github.com/ncruces/go-sqlite3\"\n")},
	}, module)
	if err != nil {
		t.Fatal(err)
	}
	rules := deptest.Verbatim()
	rules.Reviewed = nil
	if got := m.Check(rules); got != nil {
		t.Errorf("a driver that only tests use is a fault: %v", got)
	}
}

func TestReviewedUsesAreFreeAndMustExist(t *testing.T) {
	t.Parallel()
	rules := deptest.Verbatim()
	rules.Reviewed = []deptest.Reviewed{{"web/a.go", "json.Unmarshal", "a test"}}
	used := "package web\nimport \"encoding/json\"\nvar _ = json.Unmarshal\n"
	if got := check(t, rules, "web/a.go", used); got != nil {
		t.Errorf("a reviewed use is a fault: %v", got)
	}
	if got := check(t, rules, "web/b.go", used); len(got) != 2 {
		t.Errorf("%d faults, want 2: another file's use, and the review that nothing needs: %v", len(got), got)
	}
}

func TestLoadRefusesWhatItCannotParse(t *testing.T) {
	t.Parallel()
	_, err := deptest.Load(fstest.MapFS{"a.go": {Data: []byte("package")}}, module)
	if err == nil {
		t.Error("a file that does not parse was loaded")
	}
}

// check loads a small module in which the gate pulls in every step, with one
// more file.
func check(t *testing.T, rules deptest.Rules, name, source string) []deptest.Fault {
	t.Helper()
	gate := "package verbatim\n"
	for _, step := range []string{"canon", "decode", "schema", "resolve", "identity", "snapshot", "policy", "approval", "execute", "audit", "keys"} {
		gate += fmt.Sprintf("import _ \"%s/%s\"\n", module, step)
	}
	m, err := deptest.Load(fstest.MapFS{
		"gate.go": {Data: []byte(gate)},
		name:      {Data: []byte(source)},
	}, module)
	if err != nil {
		t.Fatal(err)
	}
	return m.Check(rules)
}

func own(name, target string) string {
	return fmt.Sprintf("package %s\nimport _ \"%s/%s\"\n", name, module, target)
}

func permit(name, as string) string {
	use := as
	if use == "" {
		use = "permit"
	}
	return fmt.Sprintf("package %s\nimport %s \"%s/internal/permit\"\nvar _ = %s.Issue\n", name, as, module, use)
}

func TestAModuleOfItsOwnIsNotJudged(t *testing.T) {
	t.Parallel()
	m, err := deptest.Load(fstest.MapFS{
		"bench/go.mod":    {Data: []byte("module m/bench\n")},
		"bench/util/a.go": {Data: []byte("package util\n")},
		"benches/doc.go":  {Data: []byte("package benches\n")},
	}, module)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Packages(); len(got) != 1 {
		t.Errorf("judged: %v", got)
	}
}

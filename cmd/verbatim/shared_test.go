package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/pgtest"
)

// sharing makes a place whose gateway works on a database that others share,
// with the keys of the first.
func sharing(t *testing.T, dsn string, first *place) *place {
	t.Helper()
	p := newPlace(t, "20s")
	file := p.home.Path("store.dsn")
	settings := "listen: 127.0.0.1:0\nwait: 20s\nstore:\n  postgres:\n    dsn: {file: store.dsn}\n    requireSync: false\n    connections: 4\n"
	err := os.WriteFile(file, []byte(dsn+"\n"), 0o600)
	if err == nil {
		err = os.WriteFile(p.home.Config(), []byte(settings), 0o600)
	}
	if err == nil && first != nil {
		err = os.CopyFS(p.home.Keys(), os.DirFS(first.home.Keys()))
	}
	if err == nil && first != nil {
		err = private(p.home.Keys())
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// private takes the rights of others away, as keys need it.
func private(dir string) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
}

func TestTwoGatewaysOnOneDatabase(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Start(t).Schema(t)
	one := sharing(t, dsn, nil)
	a := one.notesAgent()
	one.setup()
	two := sharing(t, dsn, one)
	b := two.notesAgent()
	if _, err := b.ListTools(two.context(), nil); err != nil { // or its gateway would not know the tool
		t.Fatal(err)
	}

	answers := make(chan toolAnswer, 1)
	go func() {
		got, err := callTool(one.context(), a, "add", `{"text":"once"}`, "")
		if err != nil {
			got.Text = err.Error()
		}
		answers <- got
	}()
	var id string
	two.eventually("the other gateway shows what waits", func() bool {
		out, err := two.command("approvals", "list").CombinedOutput()
		id = actionID.FindString(string(out))
		return err == nil && id != ""
	})
	two.approve(id)
	if got := <-answers; got.Text != "added" {
		t.Errorf("the call that waited came back with %+v", got)
	}
	if diff := cmp.Diff("succeeded", two.state(id)); diff != "" {
		t.Error(diff)
	}
	// The same approval again, at the other gateway: it is used up.
	two.call(b, "add", `{"text":"once"}`, id)
	if diff := cmp.Diff([]string{"once"}, one.written()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if got := two.written(); len(got) != 0 {
		t.Errorf("the other gateway ran it too: %v", got)
	}
}

// says runs a command that must end well, or not, and say something.
func (p *place) says(t *testing.T, well bool, what string, args ...string) {
	t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if (err == nil) != well || !strings.Contains(string(out), what) {
		t.Errorf("%v: %v %s", args, err, out)
	}
}

func TestStoreCommandsOnADatabase(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	p := sharing(t, server.Schema(t), nil)
	server.Exec(t, "CREATE ROLE gateway LOGIN")
	p.says(t, true, "went from version 0 to ", "store", "migrate", "--grant", "gateway")
	p.says(t, true, "nothing to do", "store", "migrate")
	p.notesAgent()
	p.setup()
	copied := p.home.Path("copy")
	p.says(t, true, "none", "store", "backup", copied)
	p.says(t, true, "none", "store", "check")
	p.says(t, true, "none", "store", "check", copied)
	p.says(t, false, "verbatim stop", "store", "restore", copied)
	p.says(t, true, "", "stop")
	p.says(t, true, "the store of before is kept: s1_before_", "store", "restore", copied)
	p.says(t, true, "restored from a backup", "freeze", "list")
	if _, err := os.Stat(p.home.Store()); !os.IsNotExist(err) {
		t.Errorf("the home has a file of its own too: %v", err)
	}
}

func TestDatabaseThatIsNotThereStartsNothingAndShowsNoPassword(t *testing.T) {
	t.Parallel()
	const secret = "canary7391"
	p := sharing(t, fmt.Sprintf("host=127.0.0.1 port=1 user=x password=%s dbname=y sslmode=disable", secret), nil)
	out, err := p.command("serve").CombinedOutput()
	if err == nil || strings.Contains(string(out), secret) {
		t.Errorf("serve: %v %s", err, out)
	}
}

package sqlite_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// before is the last version in which every attempt had a row of its own.
const before = 19

// earlier makes a store of that version with two runs under way, the first of
// which went to a server.
func earlier(t *testing.T, server canon.Digest) string {
	t.Helper()
	s, now := newStore(t)
	for _, id := range []string{"act_1", "act_2"} {
		begin(t, s, id)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old.db")
	oldStore(t, path, before)
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	sql(t, db, "ATTACH '"+now+"' AS now")
	for _, table := range []string{"action", "payload", "event", "policy_epoch", "seal_check"} {
		names := columnsOf(t, db, "main", table)
		sql(t, db, "INSERT INTO main."+table+" ("+names+") SELECT "+names+" FROM now."+table)
	}
	sql(t, db, `UPDATE time_floor SET at = (SELECT at FROM now.time_floor);
		INSERT INTO attempt (action_seq, attempt, fence, provider_key, started_at, server)
		SELECT seq, attempt, fence, 'key', created_at, CASE id WHEN 'act_1' THEN x'`+server.String()+`' END FROM main.action`)
	return path
}

func columnsOf(t *testing.T, db *sqlite3.Conn, schema, table string) string {
	t.Helper()
	stmt, _, err := db.Prepare("SELECT name FROM pragma_table_info('" + table + "', '" + schema + "') WHERE name <> 'leaf_index'")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	var names []string
	for stmt.Step() {
		names = append(names, stmt.ColumnText(0))
	}
	if err := stmt.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, ", ")
}

// TestAttemptsOfBeforeGoOn opens a store in which attempts have rows: where
// they went, whether they may be sent again and what overtook them is read
// there.
func TestAttemptsOfBeforeGoOn(t *testing.T) {
	t.Parallel()
	server := canon.Sum([]byte("server"))
	path := earlier(t, server)
	s := openAt(t, path, nil)
	for id, want := range map[string]canon.Digest{"act_1": server, "act_2": {}} {
		if got, err := s.SentTo(t.Context(), "acme", id); err != nil || got != want {
			t.Errorf("%s went to %s (%v), want %s", id, got, err, want)
		}
	}
	row, err := s.Action(t.Context(), "acme", "act_1")
	if err != nil {
		t.Fatal(err)
	}
	lost, err := s.Finish(t.Context(), action.Ending{ID: row.ID, Fence: row.Fence, State: action.Uncertain})
	if err != nil {
		t.Fatal(err)
	}
	again := func(alone bool) (action.Action, error) {
		return s.Begin(t.Context(), action.Start{Action: lost, Lease: time.Minute, Resend: &action.Resend{Retention: time.Hour, Alone: alone}})
	}
	if _, err := again(true); !errors.Is(err, action.ErrOvertaken) {
		t.Errorf("sent again alone, beside another run on its targets: %v", err)
	}
	if _, err := again(false); err != nil {
		t.Fatal(err)
	}
	twin := allowed(t, s, "act_3")
	twin.Fingerprint = row.Fingerprint
	if found, err := s.Begin(t.Context(), action.Start{Action: twin, Lease: time.Minute}); !errors.Is(err, action.ErrUncertain) || found.ID != "act_1" {
		t.Errorf("a twin of what is being sent again met %q: %v", found.ID, err)
	}
	begin(t, s, "act_4")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil || r.Actions != 3 || r.Schema != r.Known {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestIDThatIsTakenComesBeforeEverythingElse: a new row with the id of another
// one, also one that would meet a key, leaves that one as it is.
func TestIDThatIsTakenComesBeforeEverythingElse(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	first := begin(t, s, "act_1")
	for name, change := range map[string]func(*action.Action){
		"nothing else": func(*action.Action) {},
		"a key":        func(a *action.Action) { a.Key = "k" },
	} {
		a := allowed(t, s, "act_1")
		change(&a)
		if name == "a key" {
			holder := allowed(t, s, "act_2")
			holder.Key = "k"
			if _, err := s.Begin(t.Context(), action.Start{Action: holder, Lease: time.Minute}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.Begin(t.Context(), action.Start{Action: a, Lease: time.Minute})
		if !errors.Is(err, action.ErrState) || got.ID != "act_1" || !got.UpdatedAt.Equal(first.UpdatedAt) {
			t.Errorf("%s: met %q (%v)", name, got.ID, err)
		}
	}
}

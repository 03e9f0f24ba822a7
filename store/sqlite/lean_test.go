package sqlite_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
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
	records := entriesOf(t, s)
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
	for _, table := range []string{"action", "policy_epoch", "seal_check"} {
		names := columnsOf(t, db, "main", table)
		sql(t, db, "INSERT INTO main."+table+" ("+names+") SELECT "+names+" FROM now."+table)
	}
	unpack(t, db, records)
	sql(t, db, `INSERT INTO main.payload (action_seq, raw, requested, args, preview, facts)
		SELECT seq, raw, requested, args, preview, facts FROM now.action;
		UPDATE time_floor SET at = (SELECT at FROM now.time_floor);
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
	if r, err := sqlite.Check(t.Context(), path, options(t)); !errors.Is(err, sqlite.ErrFaults) || len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "migration") || r.Records == 0 {
		t.Errorf("before the migration: %+v, %v", r, err)
	}
	copied := filepath.Join(t.TempDir(), "before.db")
	if r, err := sqlite.Backup(t.Context(), path, copied, options(t)); err != nil || len(r.Faults) != 1 {
		t.Errorf("a backup before the migration: %+v, %v", r, err)
	}
	if _, err := sqlite.OpenLog(copied, options(t)); !errors.Is(err, sqlite.ErrEarlier) {
		t.Errorf("the log of that backup: error %v", err)
	}
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

// TestOutputsOfAnyLengthAreKept ends a run and settles it later, with outputs
// that stand in the row and such that stand beside it.
func TestOutputsOfAnyLengthAreKept(t *testing.T) {
	t.Parallel()
	long := func(sign string) []byte { return bytes.Repeat([]byte(sign), 5<<10) }
	for name, tt := range map[string]struct{ first, late []byte }{
		"short, then short": {[]byte("a"), []byte("b")},
		"short, then long":  {[]byte("a"), long("b")},
		"long, then short":  {long("a"), []byte("b")},
		"long, then long":   {long("a"), long("b")},
		"short, then none":  {[]byte("a"), nil},
		"long, then none":   {long("a"), nil},
	} {
		for _, start := range []func(testing.TB, *sqlite.Store, string) action.Action{begin, beginLong} {
			s, path := newStore(t)
			row := start(t, s, "act_1")
			for _, step := range []struct {
				state  action.State
				output []byte
			}{{action.Uncertain, tt.first}, {action.Succeeded, tt.late}} {
				if _, err := s.Finish(t.Context(), action.Ending{ID: row.ID, Fence: row.Fence, State: step.state,
					Result: action.Result{Output: step.output}}); err != nil {
					t.Fatal(err)
				}
				want := step.output
				if want == nil {
					want = tt.first // a late success that brings nothing takes nothing away
				}
				got, err := s.Action(t.Context(), "acme", row.ID)
				if err != nil || !bytes.Equal(got.Result.Output, want) || !bytes.Equal(got.Payload.Raw, row.Payload.Raw) {
					t.Errorf("%s: %d bytes of output, want %d (%v)", name, len(got.Result.Output), len(want), err)
				}
			}
			if n := numberOf(t, path, "SELECT (SELECT count(result) FROM action) + (SELECT count(result) FROM payload)"); n != 1 {
				t.Errorf("%s: %d outputs are kept", name, n)
			}
		}
	}
}

// TestOutputGoesWithASuccessThatHasNone sends a run again that left an output.
func TestOutputGoesWithASuccessThatHasNone(t *testing.T) {
	t.Parallel()
	for _, output := range [][]byte{[]byte("a"), bytes.Repeat([]byte("a"), 5<<10)} {
		s, path := newStore(t)
		row := begin(t, s, "act_1")
		lost, err := s.Finish(t.Context(), action.Ending{ID: row.ID, Fence: row.Fence, State: action.Uncertain,
			Result: action.Result{Output: output}})
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Begin(t.Context(), action.Start{Action: lost, Lease: time.Minute, Resend: &action.Resend{Retention: time.Hour}})
		if err != nil {
			t.Fatal(err)
		}
		done, err := s.Finish(t.Context(), action.Ending{ID: row.ID, Fence: again.Fence, State: action.Succeeded})
		if err != nil || len(done.Result.Output) > 0 {
			t.Fatalf("%d bytes of output: %v", len(done.Result.Output), err)
		}
		if n := numberOf(t, path, "SELECT (SELECT count(result) FROM action) + (SELECT count(result) FROM payload)"); n != 0 {
			t.Errorf("%d outputs are kept", n)
		}
	}
}

// numberOf asks the file for one number.
func numberOf(t *testing.T, path, text string) int {
	t.Helper()
	stmt, _, err := raw(t, path).Prepare(text)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	if !stmt.Step() {
		t.Fatal(stmt.Err())
	}
	return stmt.ColumnInt(0)
}

// TestErasedPayloadsAreNowhere erases a payload in its row and one beside it.
func TestErasedPayloadsAreNowhere(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	if err := s.AddAccount(t.Context(), auth.Account{ID: "acc_op", Key: "op", Name: "Op", Tenant: "acme", Groups: []string{"operator"}, Active: true}); err != nil {
		t.Fatal(err)
	}
	for id, start := range map[string]func(testing.TB, *sqlite.Store, string) action.Action{"act_1": begin, "act_2": beginLong} {
		row := start(t, s, id)
		if _, err := s.Finish(t.Context(), action.Ending{ID: id, Fence: row.Fence, State: action.Succeeded,
			Result: action.Result{Output: []byte("done")}}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Erase(t.Context(), "acme", id, "acc_op", "asked"); err != nil {
			t.Fatal(err)
		}
	}
	for _, column := range []string{"raw", "requested", "args", "preview", "facts", "result"} {
		if n := numberOf(t, path, "SELECT (SELECT count("+column+") FROM action) + (SELECT count("+column+") FROM payload)"); n != 0 {
			t.Errorf("%d of %s are still there", n, column)
		}
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

// TestRememberedPolicyEndsWithTheNextOne: what one start has looked up does not
// let another one begin under rules that are no longer in force.
func TestRememberedPolicyEndsWithTheNextOne(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	begin(t, s, "act_1")
	old := allowed(t, s, "act_2")
	version, err := s.SetPolicy(t.Context(), "acme", tool, canon.Sum([]byte("other rules")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(t.Context(), action.Start{Action: old, Lease: time.Minute}); !errors.Is(err, action.ErrStale) {
		t.Errorf("begun under the rules of before: %v", err)
	}
	// A change that the disk refuses is none: the version is looked up again.
	db := raw(t, path)
	sql(t, db, "CREATE TRIGGER broken BEFORE UPDATE ON policy_epoch BEGIN SELECT RAISE(ABORT, 'broken'); END")
	if _, err := s.SetPolicy(t.Context(), "acme", tool, canon.Sum([]byte("third rules"))); err == nil {
		t.Fatal("the change was kept")
	}
	current := old
	current.Decision.PolicyVersion = version
	if _, err := s.Begin(t.Context(), action.Start{Action: current, Lease: time.Minute}); err != nil {
		t.Errorf("under the rules in force: %v", err)
	}
}

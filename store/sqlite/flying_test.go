package sqlite_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// TestRowsThatRunAreFound leaves runs behind among many that end, and looks
// for them in every way: as listed, as counted, by the freeze switch, and by
// the next process, which ends them.
func TestRowsThatRunAreFound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	opt := options(t).ListEvery(7)
	s, err := sqlite.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	admin(t, s)
	want := map[action.State][]string{}
	for i := range 300 {
		id := fmt.Sprintf("act_%03d", i)
		if i%100 == 40 {
			pending(t, s, id)
			want[action.PendingApproval] = append([]string{id}, want[action.PendingApproval]...)
			continue
		}
		row := begin(t, s, id)
		switch {
		case i%90 == 1 || i > 297:
			want[action.Executing] = append([]string{id}, want[action.Executing]...)
		case i%90 == 2:
			finish(t, s, row, action.Uncertain)
			want[action.Uncertain] = append([]string{id}, want[action.Uncertain]...)
		default:
			finish(t, s, row, action.Succeeded)
		}
	}
	sameFlights(t, s, want)
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if n, err := rows(raw(t, path), "SELECT count(*) FROM running WHERE seq < 40"); err != nil || n != 1 {
		t.Errorf("%d rows that run are in the list, want the first: %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = sqlite.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sameFlights(t, s, want)
	ended, err := s.Expire(t.Context(), true)
	if err != nil || len(ended) != len(want[action.Executing]) {
		t.Errorf("%d rows were ended by the next process, want %d: %v", len(ended), len(want[action.Executing]), err)
	}
	if n, err := s.Actions(t.Context(), action.Filter{States: []action.State{action.Executing}}); err != nil || len(n) != 0 {
		t.Errorf("%d rows run: %v", len(n), err)
	}
	if n := numberOf(t, path, "SELECT count(*) FROM running"); n != 0 {
		t.Errorf("%d rows are in the list of those that run", n)
	}
}

func sameFlights(t *testing.T, s *sqlite.Store, want map[action.State][]string) {
	t.Helper()
	counts, err := s.Counts(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counts {
		if c.Number != len(want[c.State]) {
			t.Errorf("%d rows are counted as %s, want %d", c.Number, c.State, len(want[c.State]))
		}
	}
	if len(counts) != len(want) {
		t.Errorf("counted: %+v", counts)
	}
	for state, ids := range want {
		found, err := s.Actions(t.Context(), action.Filter{Tenant: "acme", States: []action.State{state}, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ids, idsOf(found)); diff != "" {
			t.Errorf("%s: %s", state, diff)
		}
	}
	all, err := s.Actions(t.Context(), action.Filter{States: []action.State{action.Executing, action.PendingApproval, action.Uncertain}, Limit: 50})
	if n := len(want[action.Executing]) + len(want[action.PendingApproval]) + len(want[action.Uncertain]); err != nil || len(all) != n {
		t.Errorf("%d rows in flight, want %d: %v", len(all), n, err)
	}
}

func idsOf(rows []action.Action) (out []string) {
	for _, a := range rows {
		out = append(out, a.ID)
	}
	return out
}

// TestARunIsNotHiddenFromTheSweeper: the database refuses what would take a
// row that runs out of both ways in which it is found.
func TestARunIsNotHiddenFromTheSweeper(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	finish(t, s, begin(t, s, "act_1"), action.Uncertain)
	begin(t, s, "act_2")
	db := raw(t, path)
	for _, text := range []string{
		"UPDATE swift_from SET seq = -1",
		"UPDATE swift_from SET seq = 3",
		"UPDATE swift_from SET one = 2",
		"DELETE FROM swift_from",
		"UPDATE action SET swift = 2",
		"UPDATE action SET state = 'executing', lease_until = 1, ended_at = NULL WHERE id = 'act_1'", // it was swift
	} {
		if err := db.Exec(text); !errors.Is(err, sqlite3.CONSTRAINT) {
			t.Errorf("%s: error %v", text, err)
		}
	}
	sql(t, db, "UPDATE swift_from SET seq = 2")
	for _, text := range []string{"DELETE FROM running", "UPDATE running SET seq = 1", "UPDATE swift_from SET seq = 1"} {
		if err := db.Exec(text); !errors.Is(err, sqlite3.CONSTRAINT_TRIGGER) {
			t.Errorf("%s: error %v", text, err)
		}
	}
	onlyRuns(t, s, "act_2")
	sql(t, db, "UPDATE action SET swift = 0") // as of before there was a list
	if err := db.Exec("UPDATE action SET swift = 1"); !errors.Is(err, sqlite3.CONSTRAINT_TRIGGER) {
		t.Errorf("a row became swift: %v", err)
	}
	onlyRuns(t, s, "act_2")
	finish(t, s, begin(t, s, "act_3"), action.Uncertain)
	sql(t, db, "UPDATE swift_from SET seq = 3")
	onlyRuns(t, s, "act_2")
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if n, err := s.Stop(t.Context(), action.Stop{Tenant: "acme", By: action.ByHost}); err != nil || n != 1 {
		t.Errorf("the freeze switch says that %d rows run: %v", n, err)
	}
}

func onlyRuns(t *testing.T, s *sqlite.Store, id string) {
	t.Helper()
	found, err := s.Actions(t.Context(), action.Filter{States: []action.State{action.Executing}})
	if diff := cmp.Diff([]string{id}, idsOf(found), cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
}

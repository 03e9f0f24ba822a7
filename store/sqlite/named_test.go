package sqlite_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// namedSince is the migration from which on rows name records of their actions.
const namedSince = 31

// eventsOf are the events of an action in their order, as the store finds them.
func eventsOf(t *testing.T, s *sqlite.Store, id string) (events []string) {
	t.Helper()
	entries, err := s.Entries(t.Context(), audit.Selection{Action: id, Most: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		r, err := audit.ParseLeaf(e.Leaf)
		if err != nil || r.Action != id {
			t.Fatalf("record %d is of %q: %v", e.Index+1, r.Action, err)
		}
		events = append(events, r.Event)
	}
	return events
}

func listedOf(t *testing.T, path, id string) int {
	t.Helper()
	n, err := rows(raw(t, path), "SELECT count(*) FROM event_of WHERE action_id = '"+id+"'")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRowsNameTheirRecords: those that come with a row and with the end of its run
// are found by it, and take no room in the list of actions; all others are listed.
func TestRowsNameTheirRecords(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	admin(t, s)
	finish(t, s, begin(t, s, "act_done"), action.Succeeded)
	finish(t, s, begin(t, s, "act_lost"), action.Uncertain)
	begin(t, s, "act_left")
	if err := s.Leave(t.Context(), "act_left"); err != nil {
		t.Fatal(err)
	}
	row, err := start(s, claim(t, s, vote(t, s, pending(t, s, "act_asked"))))
	if err != nil {
		t.Fatal(err)
	}
	finish(t, s, row, action.Failed)
	read := allowed(t, s, "act_read")
	read.Mutation = false
	if _, err := s.Decide(t.Context(), read); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for _, id := range []string{"act_done", "act_lost", "act_left", "act_asked", "act_read"} {
		want[id] = eventsOf(t, s, id)
	}
	if n := len(want["act_asked"]); n < 5 || len(want["act_done"]) != 2 || len(want["act_left"]) != 2 || len(want["act_read"]) != 1 {
		t.Fatalf("%v: the test is blind", want)
	}
	if err := s.Enlist(); err != nil {
		t.Fatal(err)
	}
	for id, listed := range map[string]bool{"act_done": false, "act_lost": false, "act_left": true, "act_asked": true, "act_read": true} {
		if diff := cmp.Diff(want[id], eventsOf(t, s, id)); diff != "" {
			t.Errorf("%s: %s", id, diff)
		}
		if n := listedOf(t, path, id); n > 0 != listed {
			t.Errorf("%s has %d rows in the list, want some: %t", id, n, listed)
		}
	}
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := s.Erase(t.Context(), "acme", "act_done", "acc_ann", "asked"); err != nil {
		t.Fatal(err)
	}
	for _, e := range entriesOf(t, s) {
		if r, err := audit.ParseLeaf(e.Leaf); err != nil || (e.Salt == nil) != (r.Action == "act_done" && r.Event != audit.ActionErased) {
			t.Errorf("record %d, %s of %s, has a salt of %d bytes: %v", r.Seq, r.Event, r.Action, len(e.Salt), err)
		}
	}
}

// TestListsOfBeforeAreReadOn opens a store of the version that listed each record,
// some of them not yet, and goes on with it.
func TestListsOfBeforeAreReadOn(t *testing.T) {
	t.Parallel()
	s, now := newStore(t)
	admin(t, s)
	for i := range 20 {
		if row := begin(t, s, fmt.Sprint("act_", i)); i%2 == 0 {
			finish(t, s, row, action.Succeeded)
		}
	}
	signedLog(t, s)
	all := entriesOf(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := copyOf(t, now, namedSince-1, func(db *sqlite3.Conn) { listAll(t, db, all, len(all)-7) })
	if r, err := sqlite.Check(t.Context(), path, options(t)); !errors.Is(err, sqlite.ErrFaults) || len(r.Faults) != 1 || r.Records != int64(len(all)) {
		t.Errorf("before the migration: %+v, %v", r, err)
	}
	s = openAt(t, path, nil)
	for i := range 20 {
		id, want := fmt.Sprint("act_", i), []string{audit.ActionStarted, audit.ActionUncertain}
		if i%2 == 0 {
			want[1] = audit.ActionSucceeded
		} else if _, err := s.Expire(t.Context(), true); err != nil { // what an earlier process left running
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, eventsOf(t, s, id)); diff != "" {
			t.Errorf("%s: %s", id, diff)
		}
	}
	finish(t, s, begin(t, s, "act_new"), action.Succeeded)
	if err := s.Enlist(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"act_0", "act_1", "act_19", "act_new"} {
		if got := eventsOf(t, s, id); len(got) != 2 {
			t.Errorf("%s: %v", id, got)
		}
	}
	if diff := cmp.Diff(all, entriesOf(t, s)[:len(all)]); diff != "" {
		t.Error(diff)
	}
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// listAll copies packs, each of one record, and lists the first of them as the
// version before did.
func listAll(t *testing.T, db *sqlite3.Conn, all []audit.Entry, listed int) {
	t.Helper()
	sql(t, db, "INSERT INTO main.event_pack SELECT first, count, at, salts, leaves FROM now.event_pack")
	for i, e := range all[:listed] {
		r, err := audit.ParseLeaf(e.Leaf)
		if err != nil || r.Seq != int64(i)+1 {
			t.Fatal(r.Seq, err)
		}
		sql(t, db, fmt.Sprintf("INSERT INTO main.event_in VALUES ('%s', %d)", r.Tenant, r.Seq))
		if r.Action != "" {
			sql(t, db, fmt.Sprintf("INSERT INTO main.event_of VALUES ('%s', %[2]d, %[2]d)", r.Action, r.Seq))
		}
	}
	sql(t, db, fmt.Sprint("UPDATE main.event_listed SET seq = ", listed))
}

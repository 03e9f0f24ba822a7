package sqlite_test

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// formsSince is the migration from which on packs hold short forms.
const formsSince = 30

// copyOf is a copy of a store, in which nothing runs, in an earlier version; fill
// writes its records.
func copyOf(t *testing.T, now string, version int, fill func(*sqlite3.Conn)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.db")
	oldStore(t, path, version)
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	start := textOf(t, db, "action_start")
	sql(t, db, "ATTACH '"+now+"' AS now; DROP TRIGGER main.action_start")
	for _, table := range []string{"account", "account_group", "action", "payload", "policy_epoch", "seal_check", "tree_part", "log", "checkpoint"} {
		names := columnsOf(t, db, "main", table)
		sql(t, db, "INSERT INTO main."+table+" ("+names+") SELECT "+names+" FROM now."+table)
	}
	fill(db)
	sql(t, db, `UPDATE main.head SET size = (SELECT size FROM now.head), root = (SELECT root FROM now.head), at = (SELECT at FROM now.head);
		UPDATE main.time_floor SET at = (SELECT at FROM now.time_floor);`+start)
	return path
}

// plainly writes packs as the version before short forms did: leaves as they are.
func plainly(t *testing.T, db *sqlite3.Conn, counts []int, all []audit.Entry) {
	t.Helper()
	next := 0
	for _, n := range counts {
		var leaves strings.Builder
		for _, e := range all[next : next+n] {
			fmt.Fprintf(&leaves, "%04x%s", len(e.Leaf), hex.EncodeToString(e.Leaf))
		}
		sql(t, db, fmt.Sprintf(`INSERT INTO main.event_pack (first, count, at, salts, leaves)
			SELECT first, count, at, salts, x'%s' FROM now.event_pack WHERE first = %d`, leaves.String(), next+1))
		next += n
	}
	if next != len(all) {
		t.Fatalf("%d records in rows, %d in all", next, len(all))
	}
	sql(t, db, `INSERT INTO main.event_of SELECT * FROM now.event_of; INSERT INTO main.event_in SELECT * FROM now.event_in;
		UPDATE main.event_listed SET seq = (SELECT seq FROM now.event_listed)`)
}

// TestPlainLeavesOfBeforeAreReadOn opens a store of the version that kept each
// leaf as it is, and goes on with it: what is read of it is what was, it verifies
// with a checkpoint of then, and one action is erased.
func TestPlainLeavesOfBeforeAreReadOn(t *testing.T) {
	t.Parallel()
	s, now := newStore(t)
	admin(t, s)
	together(t, s, 20)
	reads(t, s, "read", 40)
	want, kept := entriesOf(t, s), signedLog(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	counts := packsIn(t, now)
	path := copyOf(t, now, formsSince-1, func(db *sqlite3.Conn) { plainly(t, db, counts, want) })
	s = openAt(t, path, nil)
	reads(t, s, "late", 20)
	finish(t, s, begin(t, s, "act_late"), action.Succeeded)
	all := entriesOf(t, s)
	if diff := cmp.Diff(want, all[:len(want)]); diff != "" {
		t.Error(diff)
	}
	signedLog(t, s)
	if r, err := verifyAt(t, path, kept); err != nil || r.Signed != int64(len(all)) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, id := range []string{"many_7", "act_late"} {
		if _, err := s.Erase(t.Context(), "acme", id, "acc_ann", "asked"); err != nil {
			t.Fatal(err)
		}
		of, err := s.Entries(t.Context(), audit.Selection{Action: id, Most: audit.MaxEntries})
		if err != nil || len(of) != 3 || of[0].Salt != nil || of[1].Salt != nil || of[2].Salt == nil {
			t.Errorf("%s: %d records, with salts of %d and %d bytes: %v", id, len(of), len(of[0].Salt), len(of[1].Salt), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil || r.Records != int64(len(all))+2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestALeafThatFitsNoShortFormIsKeptAsItIs, beside others in the same row.
func TestALeafThatFitsNoShortFormIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	odd := strings.Repeat("x", 300)
	if err := s.RecordTogether([]audit.Record{
		{Event: audit.ReadAllowed, Tenant: "acme", Action: "act_1", Facts: map[string]string{"effect": "allow"}},
		{Event: audit.ReadAllowed, Tenant: "acme", Action: "act_2", Facts: map[string]string{odd: "allow"}},
		{Event: audit.ReadAllowed, Tenant: "acme", Action: "act_2", Facts: map[string]string{"é": "allow"}},
		{Event: audit.ReadAllowed, Tenant: "acme", Action: "act_1", Facts: map[string]string{"short": odd[:255]}},
	}); err != nil {
		t.Fatal(err)
	}
	if counts := packsIn(t, path); !cmp.Equal(counts, []int{4}) {
		t.Fatalf("rows of %v records", counts)
	}
	for id, facts := range map[string][]string{"act_1": {"effect", "short"}, "act_2": {odd, "é"}} {
		of, err := s.Entries(t.Context(), audit.Selection{Action: id, Most: audit.MaxEntries})
		if err != nil || len(of) != 2 {
			t.Fatalf("%s: %d records, %v", id, len(of), err)
		}
		for i, e := range of {
			if r, err := audit.ParseLeaf(e.Leaf); err != nil || r.Facts[facts[i]] == "" {
				t.Errorf("%s: %s, %v", id, e.Leaf, err)
			}
		}
	}
	signedLog(t, s)
	if r, err := verifyAt(t, path); err != nil || r.Signed != 4 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil || r.Records != 4 {
		t.Errorf("%+v, %v", r, err)
	}
}

package sqlite_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// entriesOf are all records of a log.
func entriesOf(t testing.TB, s *sqlite.Store) (all []audit.Entry) {
	t.Helper()
	for {
		some, err := s.Entries(t.Context(), audit.Selection{From: int64(len(all)), Most: audit.MaxEntries})
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, some...); len(some) < audit.MaxEntries {
			return all
		}
	}
}

// packsSince is the migration from which on records stand in packs.
const packsSince = 25

// unpack writes records as stores did that had a row for each.
func unpack(t testing.TB, db *sqlite3.Conn, all []audit.Entry) {
	t.Helper()
	s, _, err := db.Prepare("INSERT INTO event (seq, id, at, tenant, event, action_id, leaf, salt) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, e := range all {
		r, err := audit.ParseLeaf(e.Leaf)
		if err != nil {
			t.Fatal(err)
		}
		for i, err := range []error{s.BindInt64(1, r.Seq), s.BindText(2, r.ID), s.BindInt64(3, r.At.UnixNano()), s.BindText(4, r.Tenant),
			s.BindText(5, r.Event), s.BindText(6, r.Action), s.BindBlob(7, e.Leaf), s.BindBlob(8, e.Salt)} {
			if err != nil {
				t.Fatal(i, err)
			}
		}
		if e.Salt == nil {
			err = s.BindNull(8)
		}
		if err == nil {
			err = s.Exec()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// reads has a store allow reads, which come into the log many at once.
func reads(t testing.TB, s *sqlite.Store, prefix string, n int) {
	t.Helper()
	for i := range n {
		a := allowed(t, s, fmt.Sprintf("%s_%d", prefix, i))
		a.Mutation = false
		if i%3 == 0 {
			a.Tenant = "rival"
		}
		if _, err := s.Decide(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
}

// packsIn says how many records each row of the log has.
func packsIn(t testing.TB, path string) (counts []int) {
	t.Helper()
	db := raw(t, path)
	s, _, err := db.Prepare("SELECT count FROM event_pack ORDER BY first")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for s.Step() {
		counts = append(counts, s.ColumnInt(0))
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return counts
}

// TestRecordsOfOneCommitStandInOneRow, as many as fit.
func TestRecordsOfOneCommitStandInOneRow(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	reads(t, s, "read", 300)
	begin(t, s, "act_1")
	all := entriesOf(t, s)
	counts, sum := packsIn(t, path), 0
	for _, n := range counts {
		sum += n
	}
	if len(all) != sum || sum < 300 || len(counts) > 100 {
		t.Errorf("%d records, %d of them in rows: %v", len(all), sum, counts)
	}
	for i, e := range all {
		if r, err := audit.ParseLeaf(e.Leaf); err != nil || r.Seq != int64(i)+1 || e.Index != int64(i) || len(e.Salt) != audit.SaltSize {
			t.Fatalf("record %d is number %d, with a salt of %d bytes: %v", i+1, r.Seq, len(e.Salt), err)
		}
	}
	for from := range int64(len(all)) {
		some, err := s.Entries(t.Context(), audit.Selection{From: from, Most: 2})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all[from:min(from+2, int64(len(all)))], some); diff != "" {
			t.Fatal(diff)
		}
	}
	signedLog(t, s)
	if r, err := verifyAt(t, path); err != nil || r.Signed != int64(len(all)) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRecordsOfBeforeArePacked opens a store of the version that had a row for
// each record: with salts that are forgotten, many records and signatures.
func TestRecordsOfBeforeArePacked(t *testing.T) {
	t.Parallel()
	s, now := newStore(t)
	admin(t, s)
	for i := range 3 {
		finish(t, s, begin(t, s, fmt.Sprintf("act_%d", i)), action.Succeeded)
		reads(t, s, fmt.Sprintf("read%d", i), 60)
	}
	if _, err := s.Erase(t.Context(), "acme", "act_1", "acc_ann", "asked"); err != nil {
		t.Fatal(err)
	}
	signed, want := signedLog(t, s), entriesOf(t, s)
	records, err := s.Records(t.Context(), audit.Filter{Tenant: "rival", Limit: 1000})
	if err != nil || len(records) < 50 {
		t.Fatal(len(records), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := unpacked(t, now, want)
	if r, err := sqlite.Check(t.Context(), path, options(t)); len(r.Faults) != 1 || r.Records != int64(len(want)) {
		t.Errorf("before the migration: %+v, %v", r, err)
	}
	s = openAt(t, path, nil)
	if diff := cmp.Diff(want, entriesOf(t, s)); diff != "" {
		t.Fatal(diff)
	}
	if again, err := s.Records(t.Context(), audit.Filter{Tenant: "rival", Limit: 1000}); err != nil || cmp.Diff(records, again) != "" {
		t.Error(cmp.Diff(records, again), err)
	}
	if r, err := verifyAt(t, path, signed); err != nil || r.Complete != int64(len(want)) {
		t.Errorf("%+v, %v", r, err)
	}
	finish(t, s, begin(t, s, "act_9"), action.Succeeded)
	signedLog(t, s)
	if r, err := verifyAt(t, path, signed); err != nil || r.Records != int64(len(want))+2 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// unpacked is a copy of a store in the version that had a row for each record.
func unpacked(t *testing.T, now string, all []audit.Entry) string {
	t.Helper()
	return copyOf(t, now, packsSince-1, func(db *sqlite3.Conn) { unpack(t, db, all) })
}

// textOf is the statement that made something.
func textOf(t *testing.T, db *sqlite3.Conn, name string) string {
	t.Helper()
	s, _, err := db.Prepare("SELECT sql FROM sqlite_schema WHERE name = '" + name + "'")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !s.Step() {
		t.Fatalf("there is no %s: %v", name, s.Err())
	}
	return s.ColumnText(0)
}

// TestAGapOfBeforeStaysOne: what somebody has taken out of the log is missing
// after the migration as well.
func TestAGapOfBeforeStaysOne(t *testing.T) {
	t.Parallel()
	s, now := newStore(t)
	reads(t, s, "read", 150)
	signed, all := signedLog(t, s), entriesOf(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := unpacked(t, now, all)
	db := raw(t, path)
	sql(t, db, "DROP TRIGGER event_kept; DELETE FROM event WHERE seq IN (1, 65, 70, 71)")
	s = openAt(t, path, nil)
	left := entriesOf(t, s)
	if len(left) != len(all)-4 || left[0].Index != 1 || left[63].Index != 65 {
		t.Errorf("%d of %d records are left", len(left), len(all))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := verifyAt(t, path, signed); err == nil {
		t.Errorf("it verifies: %+v", r)
	}
}

// TestOneOfManyRecordsIsErased: of the records that stand in one row, only the
// salts of the action's are forgotten, and no file holds them any more.
func TestOneOfManyRecordsIsErased(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "store.db")
	s := openAt(t, path, nil)
	admin(t, s)
	together(t, s, 40)
	var packed bool
	for _, n := range packsIn(t, path) {
		packed = packed || n > 4
	}
	if !packed {
		t.Fatal("no commit had many records: the test is blind")
	}
	signed, before := signedLog(t, s), entriesOf(t, s)
	if _, err := s.Erase(t.Context(), "acme", "many_7", "acc_ann", "asked"); err != nil {
		t.Fatal(err)
	}
	var gone [][]byte
	after := entriesOf(t, s)
	for i, e := range before {
		r, err := audit.ParseLeaf(e.Leaf)
		if err != nil {
			t.Fatal(err)
		}
		if r.Action == "many_7" {
			gone = append(gone, e.Salt)
			e.Salt = nil
		}
		if diff := cmp.Diff(e, after[i]); diff != "" {
			t.Fatal(diff)
		}
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(gone) != 2 {
		t.Fatal(len(gone), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, salt := range gone {
			if bytes.Contains(text, salt) {
				t.Errorf("%s holds a salt", filepath.Base(file))
			}
		}
	}
	if r, err := verifyAt(t, path, signed); err != nil || r.Complete == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// together runs calls at once, so that commits have many records.
func together(t *testing.T, s *sqlite.Store, n int) {
	t.Helper()
	calls := make([]action.Action, n)
	for i := range calls {
		calls[i] = allowed(t, s, fmt.Sprintf("many_%d", i))
	}
	for range 2 {
		done := make(chan error)
		for i := range calls {
			go func() {
				a, err := calls[i], error(nil)
				if a.Fence == 0 {
					calls[i], err = s.Begin(t.Context(), action.Start{Action: a, Lease: time.Minute})
				} else {
					_, err = s.Finish(t.Context(), action.Ending{ID: a.ID, Fence: a.Fence, State: action.Succeeded, Result: action.Result{Output: []byte("{}")}})
				}
				done <- err
			}()
		}
		for range calls {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestSaltsOfOldReadsGoAlone: retention forgets the salts of reads that are
// past their time, and leaves those of others in the same rows.
func TestSaltsOfOldReadsGoAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	clock := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	s := openAt(t, path, func() time.Time { return clock })
	reads(t, s, "old", 200)
	finish(t, s, begin(t, s, "act_1"), action.Succeeded)
	old := len(entriesOf(t, s))
	clock = clock.Add(10 * 24 * time.Hour)
	reads(t, s, "new", 50)
	signed := signedLog(t, s)
	out, err := s.ForgetPayloads(t.Context(), action.Retention{action.ClassRead: 5 * 24 * time.Hour})
	if err != nil || out.Records != 200 {
		t.Fatalf("%+v, %v", out, err)
	}
	for i, e := range entriesOf(t, s) {
		r, err := audit.ParseLeaf(e.Leaf)
		if err != nil {
			t.Fatal(err)
		}
		if want := i < old && r.Event == audit.ReadAllowed; (e.Salt == nil) != want {
			t.Errorf("record %d, %s: its salt is gone: %t, want %t", i+1, r.Event, e.Salt == nil, want)
		}
	}
	if r, err := verifyAt(t, path, signed); err != nil || r.Complete == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestWhatAVerbRecordedGoesWithIt: of a batch in which one verb fails after it
// has written its record, the others' records stay, numbered without a gap.
func TestWhatAVerbRecordedGoesWithIt(t *testing.T) {
	t.Parallel()
	sealer, err := keys.NewSealer(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Open(path, sqlite.Options{Sealer: sealer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	kept, lost := s.SpoiltBatch(9)
	if kept != nil || lost == nil {
		t.Fatalf("%v, %v", kept, lost)
	}
	all := entriesOf(t, s)
	if len(all) != 8 {
		t.Errorf("%d records", len(all))
	}
	for i, e := range all {
		if r, err := audit.ParseLeaf(e.Leaf); err != nil || r.Seq != int64(i)+1 || r.Code == "spoilt" {
			t.Errorf("record %d: %+v, %v", i+1, r, err)
		}
	}
	if err := s.Enlist(); err != nil {
		t.Fatal(err)
	}
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

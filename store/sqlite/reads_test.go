package sqlite_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

func read(t testing.TB, s *sqlite.Store, id string) {
	t.Helper()
	a := allowed(t, s, id)
	a.Mutation = false
	if _, err := s.Decide(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

// readsOf lists the reads of the log, oldest first.
func readsOf(t testing.TB, s *sqlite.Store) []string {
	t.Helper()
	list, err := s.Records(t.Context(), audit.Filter{Tenant: "acme", Event: audit.ReadAllowed, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range list {
		out = append([]string{r.Action}, out...)
	}
	return out
}

// copyFiles is what a machine finds after the process was killed: the files
// as they are.
func copyFiles(t testing.TB, path, to string, suffixes ...string) {
	t.Helper()
	for _, suffix := range suffixes {
		b, err := os.ReadFile(path + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

var journals = []string{"-reads1", "-reads2"}

func sound(t testing.TB, path string) {
	t.Helper()
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil {
		t.Errorf("%v: %v", err, r.Faults)
	}
}

func TestAcknowledgedReadsSurviveAKill(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	begin(t, s, "act_1")
	for i := range 5 {
		read(t, s, fmt.Sprintf("read_%d", i))
	}
	to := filepath.Join(t.TempDir(), "store.db")
	copyFiles(t, path, to, append(slices.Clone(journals), "", "-wal")...) // what has left the first ones is in the others
	again := openAt(t, to, nil)
	if diff := cmp.Diff([]string{"read_0", "read_1", "read_2", "read_3", "read_4"}, readsOf(t, again)); diff != "" {
		t.Error(diff)
	}
	sound(t, to)
}

func TestAKillBetweenLogAndJournalCountsAReadOnce(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	read(t, s, "read_0")
	begin(t, s, "act_1") // takes read_0 in
	read(t, s, "read_1")
	read(t, s, "read_2")
	to := filepath.Join(t.TempDir(), "store.db")
	copyFiles(t, path, to, journals...) // as they were
	begin(t, s, "act_2")                // takes them in
	copyFiles(t, path, to, "", "-wal")
	again := openAt(t, to, nil)
	if diff := cmp.Diff([]string{"read_0", "read_1", "read_2"}, readsOf(t, again)); diff != "" {
		t.Error(diff)
	}
	sound(t, to)
}

func TestHalfAFrameEndsTheJournal(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	allowed(t, s, "x")
	db := raw(t, path)
	sql(t, db, "BEGIN IMMEDIATE") // nothing of it comes into the log
	for i := range 3 {
		read(t, s, fmt.Sprintf("read_%d", i))
	}
	var whole []byte
	for _, suffix := range journals { // a busy machine may have begun the second
		b, err := os.ReadFile(path + suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		whole = append(whole, bytes.TrimRight(b, "\x00")...) // without the room that is left
	}
	base := filepath.Join(t.TempDir(), "base.db")
	copyFiles(t, path, base, "", "-wal")
	sql(t, db, "ROLLBACK")
	first := 8 + int(binary.LittleEndian.Uint32(whole))
	flipped := append([]byte(nil), whole...)
	flipped[first+100] ^= 1
	for name, tc := range map[string]struct {
		file []byte
		want int
	}{
		"nothing":              {nil, 0},
		"half a length":        {whole[:3], 0},
		"half of the first":    {whole[:first-1], 0},
		"one":                  {whole[:first], 1},
		"one and a half":       {whole[:first+20], 1},
		"a bit of the second":  {flipped, 1},
		"zeros after the last": {append(append([]byte(nil), whole...), make([]byte, 4096)...), 3},
		"a length of 4 GiB":    {append(append([]byte(nil), whole...), 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0), 3},
	} {
		to := filepath.Join(t.TempDir(), "store.db")
		copyFiles(t, base, to, "", "-wal")
		if err := os.WriteFile(to+"-reads1", tc.file, 0o600); err != nil {
			t.Fatal(err)
		}
		again := openAt(t, to, nil)
		if got := readsOf(t, again); len(got) != tc.want {
			t.Errorf("%s: %v", name, got)
		}
		sound(t, to)
	}
}

func TestAWholeFrameThatIsNoRecordRefusesToOpen(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	body := append(make([]byte, 40), `{"v":1}`...)
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	if err := os.WriteFile(path+"-reads1", append(b, body...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(path, options(t)); !errors.Is(err, audit.ErrLeaf) {
		t.Errorf("error %v", err)
	}
}

func TestReadWithoutARecordIsRefused(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	if err := os.Mkdir(path+"-reads1", 0o700); err != nil {
		t.Fatal(err)
	}
	a := allowed(t, s, "read_0")
	a.Mutation = false
	if _, err := s.Decide(t.Context(), a); err == nil {
		t.Error("a read without a record")
	}
	read(t, s, "read_1") // the long way
	if diff := cmp.Diff([]string{"read_1"}, readsOf(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestAClosedStoreLeavesNoJournal(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	read(t, s, "read_0")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range journals {
		if _, err := os.Stat(path + suffix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", suffix, err)
		}
	}
	if diff := cmp.Diff([]string{"read_0"}, readsOf(t, openAt(t, path, nil))); diff != "" {
		t.Error(diff)
	}
}

func TestReadsComeIntoTheLogByThemselves(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	read(t, s, "read_0")
	for range 500 {
		if r, err := sqlite.Check(t.Context(), path, options(t)); err == nil && r.Records == 2 { // and the policy's
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the record stayed in the journal")
}

// TestReadsAmongVerbs mixes reads and verbs of many callers, with kills of
// nothing but the file's own order: records are dense and their times never
// go back.
func TestReadsAmongVerbs(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	allowed(t, s, "x")
	var all sync.WaitGroup
	for c := range 8 {
		all.Go(func() {
			for i := range 60 {
				id := fmt.Sprintf("c%d_%d", c, i)
				if i%5 == 0 {
					a, err := newCall(t.Context(), s, id)
					if err == nil {
						_, err = s.Begin(t.Context(), action.Start{Action: a, Lease: time.Minute})
					}
					if err != nil {
						t.Error(err)
					}
					continue
				}
				a, err := newCall(t.Context(), s, id)
				if err != nil {
					t.Error(err)
				}
				a.Mutation = false
				if _, err := s.Decide(t.Context(), a); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := readsOf(t, s); len(got) != 8*48 {
		t.Errorf("%d reads", len(got))
	}
	sound(t, path)
}

// TestNoReadAfterAStop turns the freeze switch beside reads: what the log
// holds between a stop and its end are no reads, and who was refused is not
// in it.
func TestNoReadAfterAStop(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	admin(t, s)
	allowed(t, s, "x")
	stop := action.Stop{Tenant: "acme", By: "acc_ann", Reason: "test"}
	done := make(chan struct{})
	var all sync.WaitGroup
	answered := make([]int, 4)
	for c := range answered {
		all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				a, err := newCall(t.Context(), s, fmt.Sprintf("c%d_%d", c, i))
				if err != nil {
					t.Error(err)
					return
				}
				a.Mutation = false
				switch _, err := s.Decide(t.Context(), a); {
				case err == nil:
					answered[c]++
				case !errors.Is(err, action.ErrStopped):
					t.Error(err)
					return
				}
			}
		})
	}
	for range 20 {
		if _, err := s.Stop(t.Context(), stop); err != nil {
			t.Error(err)
		}
		if list, err := s.Stops(t.Context(), "acme"); err != nil || len(list) != 1 {
			t.Errorf("stops %v, %v", list, err)
		}
		time.Sleep(time.Millisecond)
		if err := s.Resume(t.Context(), stop); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Millisecond)
	}
	close(done)
	all.Wait()
	reads, stopped := 0, false
	for _, r := range allRecords(t, s) {
		switch r.Event {
		case audit.Stopped:
			stopped = true
		case audit.Resumed:
			stopped = false
		case audit.ReadAllowed:
			reads++
			if stopped {
				t.Errorf("record %d is a read under a stop", r.Seq)
			}
		}
	}
	if want := answered[0] + answered[1] + answered[2] + answered[3]; reads != want || reads == 0 {
		t.Errorf("%d reads in the log, %d were answered", reads, want)
	}
	sound(t, path)
}

// allRecords is the whole log, oldest first.
func allRecords(t testing.TB, s *sqlite.Store) []audit.Record {
	t.Helper()
	var out []audit.Record
	for f := (audit.Filter{Limit: 1000}); ; f.Before = out[0].Seq {
		page, err := s.Records(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			out = append([]audit.Record{r}, out...)
		}
		if len(page) < f.Limit {
			return out
		}
	}
}

func TestJoinableKnowsWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	row := begin(t, s, "act_1")
	if err := s.Leave(t.Context(), row.ID); err != nil {
		t.Fatal(err)
	}
	look := func(s *sqlite.Store, want int) {
		t.Helper()
		list, err := s.Joinable(t.Context(), row.Tenant, row.Principal, row.Fingerprint)
		if err != nil || len(list) != want {
			t.Errorf("%d rows, want %d: %v", len(list), want, err)
		}
	}
	look(s, 1)
	// A verb that fails counts for nothing.
	if _, err := s.Begin(t.Context(), action.Start{Action: row, Lease: time.Minute}); err == nil {
		t.Fatal("a second row of one id")
	}
	look(s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, path, nil)
	look(s, 1)
	finish(t, s, row, action.Uncertain)
	look(s, 0)
	if _, err := s.Reconcile(t.Context(), action.Reconciliation{ID: row.ID, State: action.ReconciledSucceeded, By: action.ByProvider, Evidence: "seen"}); err != nil {
		t.Fatal(err)
	}
	look(s, 0)
}

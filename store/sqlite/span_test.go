package sqlite_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// FuzzSplit: whatever stands in a row, its leaves are all of its bytes, or it
// is damaged.
func FuzzSplit(f *testing.F) {
	f.Add([]byte("\x00\x02{}\x00\x03{1}"))
	f.Add([]byte("\x00\x02{}\x00"))
	f.Add([]byte("\xff\xff{}"))
	f.Fuzz(func(t *testing.T, row []byte) {
		leaves, ok := sqlite.Split(row)
		var again []byte
		for _, leaf := range leaves {
			again = append(binary.BigEndian.AppendUint16(again, uint16(len(leaf))), leaf...)
		}
		if !bytes.HasPrefix(row, again) || ok != bytes.Equal(row, again) {
			t.Fatalf("%q is split into %q: %t", row, leaves, ok)
		}
	})
}

// TestPacksThatFollowEachOtherAreListedOnce for an action that is in all of
// them, whatever tenants they have.
func TestPacksThatFollowEachOtherAreListedOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		packs [][]string
		want  []string
	}{
		{"none", nil, nil},
		{"one pack, twice in it", [][]string{{"a", "a"}}, []string{"a 0 0"}},
		{"begun and ended", [][]string{{"a"}, {"a"}}, []string{"a 0 1"}},
		{"one between", [][]string{{"a"}, {"b"}, {"a"}}, []string{"a 0 0", "a 2 2", "b 1 1"}},
		{"a record of no action between", [][]string{{"a"}, {""}, {"a"}}, []string{"a 0 0", "a 2 2"}},
		{"many", [][]string{{"a", "bb"}, {"bb", "a"}, {"bb"}, {"ccc", "a"}, {"a", "ccc"}}, []string{"a 0 1", "a 3 4", "bb 0 2", "ccc 3 4"}},
	} {
		if diff := cmp.Diff(tt.want, sqlite.Spans(tt.packs)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// TestATenantsRecordsAreFoundAmongManyRows: more rows than are looked up at
// once, of two tenants and of none, listed and not.
func TestATenantsRecordsAreFoundAmongManyRows(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	write := func(n int) {
		for i := range n {
			if err := s.RejectInput(t.Context(), action.Rejection{Tenant: []string{"acme", "rival", "", "acme"}[i%4], Tool: "t", Stage: "json",
				Code: "invalid_arguments"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(300)
	if err := s.Enlist(); err != nil {
		t.Fatal(err)
	}
	write(90)
	all, err := s.Records(t.Context(), audit.Filter{Limit: 1000})
	if err != nil || len(all) != 390 {
		t.Fatal(len(all), err)
	}
	for _, f := range []audit.Filter{{Tenant: "acme", Limit: 1000}, {Tenant: "rival", Limit: 1000}, {Tenant: "rival", Limit: 70, Before: 250},
		{Tenant: "third", Limit: 1000}, {Tenant: "acme", Limit: 65, Before: 330}, {Event: audit.ActionStarted, Limit: 5}} {
		got, err := s.Records(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(slices.Clone(all), func(r audit.Record) bool {
			return f.Tenant != "" && r.Tenant != "" && r.Tenant != f.Tenant || f.Event != "" && f.Event != r.Event || f.Before > 0 && r.Seq >= f.Before
		})
		if want = want[:min(len(want), f.Limit)]; len(want) != len(got) || len(got) > 0 && cmp.Diff(want, got) != "" {
			t.Errorf("%+v: %d records, want %d", f, len(got), len(want))
		}
		if f.Tenant != "" {
			sameEntries(t, s, all, f)
		}
	}
}

// TestAnUnreadableRecordStopsNoOther: whoever spoils a record in the file is
// found by a check, but keeps nobody from being recorded.
func TestAnUnreadableRecordStopsNoOther(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"a leaf that is none":  "leaves = CAST(x'00027b7d' || substr(leaves, 3 + length(leaves)) AS BLOB)",
		"a short form of none": "leaves = CAST(x'0003010cff' || substr(leaves, 3 + length(leaves)) AS BLOB)",
		"a wrong length":       "leaves = CAST(x'0001' || substr(leaves, 3) AS BLOB)",
	} {
		s, path := newStore(t)
		begin(t, s, "act_1")
		begin(t, s, "act_2")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		sql(t, raw(t, path), "DROP TRIGGER event_pack_frozen; UPDATE event_pack SET "+change+" WHERE first = 2")
		s = openAt(t, path, nil)
		reads(t, s, "read", 5)
		begin(t, s, "act_3")
		if err := s.Enlist(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r, err := s.Records(t.Context(), audit.Filter{Action: "act_3"}); err != nil || len(r) != 1 {
			t.Errorf("%s: %d records, %v", name, len(r), err)
		}
		if r, err := sqlite.Check(t.Context(), path, options(t)); err == nil || len(r.Faults) < 2 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

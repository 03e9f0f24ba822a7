package sqlite_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// written is a store with some sixty records: of two tenants and of none,
// of actions and of none.
func written(t *testing.T, every int) (s *sqlite.Store, actions []string) {
	t.Helper()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "store.db"), options(t).ListEvery(every))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for i := range 14 {
		id := fmt.Sprintf("act_%d", i)
		row := begin(t, s, id)
		actions = append(actions, id)
		if i%3 == 0 {
			finish(t, s, row, action.Succeeded)
		}
		if err := s.RejectInput(t.Context(), action.Rejection{Tenant: []string{"acme", "rival", ""}[i%3], Tool: "t", Stage: "json",
			Code: "invalid_arguments"}); err != nil {
			t.Fatal(err)
		}
		read := allowed(t, s, fmt.Sprintf("read_%d", i))
		read.Mutation = false
		if i%2 == 0 {
			read.Tenant = "rival"
		}
		if i%5 != 0 {
			if _, err := s.Decide(t.Context(), read); err != nil {
				t.Fatal(err)
			}
			actions = append(actions, read.ID)
		}
	}
	return s, actions
}

// TestListsOfRecordsLeaveNothingOut asks for records by every filter and
// compares the answer with what is found by looking at each record, with the
// lists behind, half way and up to date.
func TestListsOfRecordsLeaveNothingOut(t *testing.T) {
	t.Parallel()
	for _, every := range []int{1, 7, 1000} {
		s, actions := written(t, every)
		all, err := s.Records(t.Context(), audit.Filter{Limit: 1000})
		if err != nil || len(all) < 30 {
			t.Fatalf("%d records: %v", len(all), err)
		}
		for _, f := range filters(append(actions[:3:3], "", "nobody's"), int64(len(all))) {
			got, err := s.Records(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.DeleteFunc(slices.Clone(all), func(r audit.Record) bool {
				return f.Action != "" && r.Action != f.Action || f.Tenant != "" && r.Tenant != "" && r.Tenant != f.Tenant ||
					f.Event != "" && r.Event != f.Event || f.Before > 0 && r.Seq >= f.Before
			})
			if diff := cmp.Diff(want[:min(len(want), f.Limit)], got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("every %d, %+v: %s", every, f, diff)
			}
			sameEntries(t, s, all, f)
		}
	}
}

func filters(actions []string, last int64) (out []audit.Filter) {
	for _, id := range actions {
		for _, tenant := range []string{"", "acme", "rival", "third"} {
			for _, event := range []string{"", audit.ActionStarted} {
				for _, before := range []int64{0, 2, last / 2, last} {
					for _, most := range []int{3, 500} {
						out = append(out, audit.Filter{Action: id, Tenant: tenant, Event: event, Before: before, Limit: most})
					}
				}
			}
		}
	}
	return out
}

// sameEntries compares the entries that a selection like the filter gives.
func sameEntries(t *testing.T, s *sqlite.Store, all []audit.Record, f audit.Filter) {
	t.Helper()
	sel := audit.Selection{Tenant: f.Tenant, Action: f.Action, From: f.Before, Most: f.Limit}
	entries, err := s.Entries(t.Context(), sel)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]int64, len(entries))
	for i, e := range entries {
		got[i] = e.Index + 1
	}
	var want []int64
	for _, r := range slices.Backward(all) {
		if r.Seq > sel.From && (sel.Tenant == "" || r.Tenant == sel.Tenant) && (sel.Action == "" || r.Action == sel.Action) && len(want) < sel.Most {
			want = append(want, r.Seq)
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%+v: %s", sel, diff)
	}
}

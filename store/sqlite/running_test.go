package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

func endings() map[string]action.Ending {
	return map[string]action.Ending{
		"succeeded with output":    {State: action.Succeeded, Result: action.Result{Output: []byte(`{"done":true}`), Comparison: "equal"}},
		"succeeded without output": {State: action.Succeeded},
		"failed":                   {State: action.Failed, Result: action.Result{Evidence: action.EvidenceProved, Code: "tool_failed", Detail: "no"}},
		"uncertain":                {State: action.Uncertain, Result: action.Result{Code: "outcome_uncertain", IsError: true, Output: []byte("?")}},
	}
}

// TestARememberedRunEndsAsOneThatIsRead compares the end of a run by the
// process that began it with the end by another one, which must read the row.
func TestARememberedRunEndsAsOneThatIsRead(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	for name, e := range endings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rows [2]action.Action
			for i := range rows {
				path := filepath.Join(t.TempDir(), "store.db")
				s, err := sqlite.Open(path, sqlite.Options{Sealer: fixedSealer(t), Now: now})
				if err != nil {
					t.Fatal(err)
				}
				begin(t, s, "act_1")
				if i == 1 {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					s = openAt(t, path, now)
				} else {
					defer s.Close()
				}
				e := e
				e.ID, e.Fence = "act_1", 1
				out, err := s.Finish(t.Context(), e)
				if err != nil {
					t.Fatal(err)
				}
				if len(out.Leaf) == 0 {
					t.Error("no leaf")
				}
				rows[i], err = s.Action(t.Context(), "acme", "act_1")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(rows[i], out, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(action.Action{}, "Leaf")); diff != "" {
					t.Errorf("what is stored differs from what was said (-stored +said):\n%s", diff)
				}
			}
			if diff := cmp.Diff(rows[1], rows[0], cmpopts.IgnoreFields(action.Action{}, "Leaf")); diff != "" {
				t.Errorf("a remembered run ends otherwise (-read +remembered):\n%s", diff)
			}
		})
	}
}

// TestARunThatHasChangedIsReadAgain, whoever changed it.
func TestARunThatHasChangedIsReadAgain(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	success := func(id string) action.Ending { return action.Ending{ID: id, Fence: 1, State: action.Succeeded} }
	begin(t, s, "act_left")
	if err := s.Leave(t.Context(), "act_left"); err != nil {
		t.Fatal(err)
	}
	begin(t, s, "act_changed")
	sql(t, raw(t, path), "UPDATE action SET caller_gone = 1 WHERE id = 'act_changed'")
	for _, id := range []string{"act_left", "act_changed"} {
		if row, err := s.Finish(t.Context(), success(id)); err != nil || !row.CallerGone || row.State != action.Succeeded {
			t.Errorf("%s: %s, caller gone %t, %v", id, row.State, row.CallerGone, err)
		}
	}
	begin(t, s, "act_fence")
	wrong := success("act_fence")
	wrong.Fence = 2
	if row, err := s.Finish(t.Context(), wrong); err == nil || row.State != action.Executing {
		t.Errorf("a wrong fence ended it: %s, %v", row.State, err)
	}
	if row, err := s.Finish(t.Context(), success("act_fence")); err != nil || row.State != action.Succeeded {
		t.Errorf("%s, %v", row.State, err)
	}
	if row, err := s.Finish(t.Context(), success("act_fence")); err == nil || row.State != action.Succeeded {
		t.Errorf("it ended twice: %s, %v", row.State, err)
	}
}

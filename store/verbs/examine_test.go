package verbs_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

func leaf(t *testing.T, change func(*audit.Record)) ([]byte, audit.Record) {
	t.Helper()
	r := audit.Record{Seq: 3, ID: "rec_3", At: time.Unix(1700000000, 0).UTC(), Event: audit.ActionSucceeded, Tenant: "acme", Action: "act_1",
		From: "executing", To: "succeeded"}
	if change != nil {
		change(&r)
	}
	text, err := r.Leaf()
	if err != nil {
		t.Fatal(err)
	}
	return text, r
}

func TestAShapeIsComparedInBothDirections(t *testing.T) {
	t.Parallel()
	var r verbs.Report
	r.Shape(map[string]string{"table a": "x", "table b": "changed", "trigger own": "x"}, map[string]string{"table a": "x", "table b": "y", "index c": "z"})
	if diff := cmp.Diff([]string{"index c is missing or changed", "table b is missing or changed", "trigger own was added"}, r.Faults); diff != "" {
		t.Error(diff)
	}
}

func TestARecordThatIsNotWhatItsColumnsSayIsAFault(t *testing.T) {
	t.Parallel()
	text, columns := leaf(t, nil)
	for name, change := range map[string]func(*audit.Record){
		"as it is": func(*audit.Record) {}, "number": func(r *audit.Record) { r.Seq++ }, "id": func(r *audit.Record) { r.ID = "rec_4" },
		"time": func(r *audit.Record) { r.At = r.At.Add(1) }, "tenant": func(r *audit.Record) { r.Tenant = "other" },
		"event": func(r *audit.Record) { r.Event = audit.ActionFailed }, "action": func(r *audit.Record) { r.Action = "act_2" }} {
		said := columns
		change(&said)
		var r verbs.Report
		r.Record("record 3", text, said)
		if bad := len(r.Faults) > 0; bad != (name != "as it is") || bad && r.Faults[0] != "record 3 is not what its columns say" {
			t.Errorf("%s: %v", name, r.Faults)
		}
		if !r.LastAt.Equal(said.At) {
			t.Errorf("%s: the last record is of %v", name, r.LastAt)
		}
	}
	var r verbs.Report
	r.Record("record 3", []byte(`{"v":1`), columns)
	if len(r.Faults) != 1 || !strings.HasPrefix(r.Faults[0], "record 3: ") {
		t.Errorf("a leaf that is none: %v", r.Faults)
	}
}

func TestARowSaysWhatItsLastRecordSays(t *testing.T) {
	t.Parallel()
	text, _ := leaf(t, nil)
	for name, c := range map[string]struct {
		state action.State
		last  []byte
		want  []string
	}{
		"the same":          {action.Succeeded, text, nil},
		"another":           {action.Failed, text, []string{"action act_1 is failed, its last record says succeeded"}},
		"none":              {action.Succeeded, nil, []string{"action act_1 has no record"}},
		"one that is named": {action.Succeeded, []byte("{"), nil},
	} {
		r := verbs.Report{States: map[action.State]int{}}
		r.Action(action.Action{ID: "act_1", State: c.state}, c.last)
		if !slices.Equal(r.Faults, c.want) || r.States[c.state] != 1 {
			t.Errorf("%s: %v, %v", name, r.Faults, r.States)
		}
	}
}

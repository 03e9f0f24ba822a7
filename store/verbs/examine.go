package verbs

import (
	"slices"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// Shape compares the tables, indexes, constraints and triggers of a store
// with those that its migrations make, by name.
func (r *Report) Shape(got, want map[string]string) {
	var faults []string
	for name, text := range want {
		if got[name] != text {
			faults = append(faults, name+" is missing or changed")
		}
	}
	for name := range got {
		if _, known := want[name]; !known {
			faults = append(faults, name+" was added")
		}
	}
	slices.Sort(faults)
	for _, f := range faults {
		r.Fault("%s", f)
	}
}

// Record compares a record, named so in the report, with its columns.
func (r *Report) Record(name string, leaf []byte, columns audit.Record) {
	record, err := audit.ParseLeaf(leaf)
	if err != nil {
		r.Fault("%s: %v", name, err)
		return
	}
	r.compare(name, record, columns)
}

func (r *Report) compare(name string, record, columns audit.Record) {
	if record.Seq != columns.Seq || record.ID != columns.ID || !record.At.Equal(columns.At) || record.Tenant != columns.Tenant ||
		record.Event != columns.Event || record.Action != columns.Action {
		r.Fault("%s is not what its columns say", name)
	}
	if record.Event == audit.Restored {
		r.Restores++
	}
	if columns.At.After(r.LastAt) {
		r.LastAt = columns.At
	}
}

// Leaf looks at a record, named so in the report, that has no columns but its
// number.
func (r *Report) Leaf(name string, leaf []byte, seq int64) {
	record, err := audit.ParseLeaf(leaf)
	if err != nil {
		r.Fault("%s: %v", name, err)
		return
	}
	if record.At.Before(r.LastAt) {
		r.Fault("%s is older than the one before", name)
	}
	columns := record
	columns.Seq = seq
	r.compare(name, record, columns)
}

// Action compares a row with the last record of it; nil where it has none.
func (r *Report) Action(row action.Action, last []byte) {
	r.States[row.State]++
	record, err := audit.ParseLeaf(last)
	switch {
	case last == nil:
		r.Fault("action %s has no record", row.ID)
	case err == nil && record.To != string(row.State): // a leaf that cannot be read is named already
		r.Fault("action %s is %s, its last record says %s", row.ID, row.State, record.To)
	}
}

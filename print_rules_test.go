package verbatim_test

import (
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
)

// The fingerprint joins by structure, so that no name runs into the next. Rows
// that are stored are found by it: it may not change.
func TestAFingerprintIsTheDigestOfWhoWhatAndWhich(t *testing.T) {
	t.Parallel()
	text := canon.StringValue
	for name, targets := range map[string][]catalog.TargetRule{
		"no target":   nil,
		"one target":  {{Type: "Note", Pointer: "/text"}},
		"two targets": {{Type: "Note", Pointer: "/text"}, {Type: "Other-note", Pointer: "/text"}},
	} {
		spec := ordinary("note", noteSchema)
		spec.Targets = targets
		s := newStage(t, parts{spec: spec})
		session := s.Session()
		session.Principal = `mär"ia` + "\u2028"
		row := s.state(s.as(session, verbatim.Call{Arguments: []byte(`{"text":"a \"b\" é"}`)}).ActionID, action.Succeeded)
		list := make([]canon.Value, len(row.Targets))
		for i, target := range row.Targets {
			list[i] = canon.ArrayValue(text(target.Type), text(target.ID))
		}
		want := canon.Sum(canon.ArrayValue(text(row.Tenant), text(session.Principal), text("note"), canon.ArrayValue(list...), text(row.Hash.String())).Canonical())
		if row.Fingerprint != want || len(list) != len(targets) {
			t.Errorf("%s: %s of %d targets, want %s", name, row.Fingerprint, len(list), want)
		}
	}
}

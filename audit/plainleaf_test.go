package audit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/audit"
)

// TestShortWayWritesTheSameLeaf holds the writer of fixed names to the one
// that goes through a tree of values, for records that nobody would write too.
func TestShortWayWritesTheSameLeaf(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.StringMatching(`[a-z"\\<>&/\x00-\x1f]{0,40}`),
		rapid.SampledFrom([]string{"\xff", "é", "\u2028", "\U0001F600", "a\xc0\xaf"}), rapid.StringN(0, 6000, 6000))
	texts := rapid.MapOfN(rapid.OneOf(rapid.SampledFrom([]string{"raw", "arguments", "policyVersion", "a", "B", "b", "é", "\ue000", "\U0001F600", "\xff", ""}),
		rapid.String()), text, 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		r := audit.Record{Seq: rapid.Int64().Draw(t, "seq"), ID: text.Draw(t, "id"), Tenant: text.Draw(t, "tenant"),
			At:    time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")),
			Event: audit.ReadAllowed, Action: text.Draw(t, "action"), Tool: text.Draw(t, "tool"), Agent: text.Draw(t, "agent"),
			By: text.Draw(t, "by"), From: text.Draw(t, "from"), To: text.Draw(t, "to"), Code: text.Draw(t, "code"),
			Facts: texts.Draw(t, "facts"), Commitments: texts.Draw(t, "commitments")}
		if rapid.Bool().Draw(t, "small") {
			r.Seq = 7
		}
		want, wantErr := audit.AnyLeaf(r)
		got, err := r.Leaf()
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, want %v", err, wantErr)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatal(diff)
		}
	})
}

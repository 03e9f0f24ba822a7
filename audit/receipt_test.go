package audit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// TestAReceiptIsWrittenAsItsTreeOfValues holds the writer of fixed names to the
// canonical form of the same members, for texts that nobody would write too.
func TestAReceiptIsWrittenAsItsTreeOfValues(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.StringMatching(`[a-z"\\<>&/\x00-\x1f]{0,40}`),
		rapid.SampledFrom([]string{"\xff", "é", "\u2028", "\U0001F600", "a\xc0\xaf"}))
	rapid.Check(t, func(t *rapid.T) {
		r := audit.Receipt{Log: text.Draw(t, "log"), Action: text.Draw(t, "action"), Record: text.Draw(t, "record"),
			Digest: canon.Sum([]byte(text.Draw(t, "digest"))), Event: text.Draw(t, "event"), State: text.Draw(t, "state"), Kept: text.Draw(t, "kept"),
			At: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))}
		member := func(name, value string) canon.Member {
			return canon.Member{Name: name, Value: canon.StringValue(value)}
		}
		want := canon.ObjectValue(canon.Member{Name: "v", Value: canon.IntValue(1)}, member("log", r.Log), member("action", r.Action),
			member("record", r.Record), member("digest", r.Digest.String()), member("event", r.Event), member("state", r.State),
			member("at", r.At.UTC().Format(time.RFC3339Nano)), member("kept", r.Kept), member("claim", audit.ReceiptClaim)).Canonical()
		if diff := cmp.Diff(string(want), string(audit.ReceiptPayload(r))); diff != "" {
			t.Fatal(diff)
		}
	})
}

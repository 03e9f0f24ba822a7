package verbs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// TestAFreshEntryIsThatOfItsRecord holds the short way to the record of a new
// row, or of one that needs none, to the one through maps: the same references, and commitments to the same.
func TestAFreshEntryIsThatOfItsRecord(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2000)
	whole := action.Action{ID: "act_1", Kind: action.KindCall, Tenant: "acme", Principal: "ann", Agent: "a", Tool: "up.pay",
		Owner: "ann", Task: "t", GrantID: "g", Model: "m", CallID: "c", Key: "k", Supersedes: "act_0", Executor: "up.example",
		Definition: canon.Sum([]byte("d")), Mutation: true, Fence: 1, Attempt: 1, State: action.Executing, LeaseUntil: time.Unix(9, 8),
		Hash:     snapshot.ProposalHash(canon.Sum([]byte("h"))),
		Targets:  []snapshot.Target{{Type: "Vendor", ID: "1"}},
		Evidence: []snapshot.Evidence{{Pointer: "/a", Resolver: "r", Version: "1"}},
		Decision: action.Decision{Effect: verbs.EffectAllow, Code: "ok", Reason: long, PolicyVersion: "p.1", Rules: []string{"r1", `"r2"`}},
		Payload:  action.Payload{Raw: []byte(`{"a": 1}`), Requested: `{"a":1}`, Args: `{"a":1}`, Preview: long, Facts: "{}"}}
	bare := action.Action{ID: "act_2", Kind: action.KindCall, Tenant: "acme", Principal: "ann", State: action.Denied,
		Decision: action.Decision{Effect: verbs.EffectDeny}}
	waits := whole
	waits.State, waits.Terms = action.PendingApproval, &action.Terms{Digest: canon.Sum([]byte("t"))}
	limits := []action.Limit{{Name: "l", Scope: "s", Currency: "USD", Window: action.Day, Amount: 5, Most: 9}}
	read, handed := whole, bare
	read.Mutation, handed.Kind = false, action.KindHandoff
	for name, row := range map[string]action.Action{"is read": read, "is handed on": handed} {
		r, f, secrets := verbs.AllowedRecord(row)
		same(t, name, verbs.NewEntry(time.Time{}, r, f, secrets), verbs.AllowedEntry(&row), secrets)
	}
	for name, tt := range map[string]struct {
		row    action.Action
		limits []action.Limit
	}{"begins": {whole, nil}, "begins under a limit": {whole, limits}, "waits": {waits, nil}, "is denied": {bare, nil}} {
		r, f, secrets := verbs.FreshRecord(tt.row, tt.limits)
		same(t, name, verbs.NewEntry(time.Time{}, r, f, secrets), verbs.FreshEntry(&tt.row, tt.limits), secrets)
	}
}

// same compares all but what is random.
func same(t *testing.T, name string, want, got verbs.Entry, secrets verbs.Secrets) {
	t.Helper()
	if len(got.Commitments) != len(want.Commitments) {
		t.Errorf("%s: commits to %d things, want %d", name, len(got.Commitments), len(want.Commitments))
	}
	for secret, value := range secrets {
		if len(value) > 0 && !got.Salt.Check(got.Record, secret, value) {
			t.Errorf("%s: does not commit to %s", name, secret)
		}
	}
	if got.ID == want.ID || got.Salt == want.Salt {
		t.Errorf("%s: the id or the salt is not random", name)
	}
	got.ID, got.Commitments = want.ID, want.Commitments
	if diff := cmp.Diff(want.Record, got.Record); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// TestALeaseComesLater: a record that is made before its moment says nothing
// of a lease until it is told.
func TestALeaseComesLater(t *testing.T) {
	t.Parallel()
	row := action.Action{ID: "act_1", Kind: action.KindCall, Tenant: "acme", Principal: "ann", State: action.Executing, Fence: 1, Attempt: 1}
	e := verbs.FreshEntry(&row, nil)
	if text, found := e.Facts["leaseUntil"]; found {
		t.Errorf("held until %s", text)
	}
	e.Lease(time.Unix(9, 0).UTC())
	if e.Facts["leaseUntil"] != "1970-01-01T00:00:09Z" {
		t.Errorf("held until %s", e.Facts["leaseUntil"])
	}
}

// TestListsOfTextsAreCanonical holds the writer of lists to the encoder.
func TestListsOfTextsAreCanonical(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\xff", "\u2028", `"\`, ""}))).Draw(t, "items")
		values := make([]canon.Value, len(items))
		for i, text := range items {
			values[i] = canon.StringValue(text)
		}
		if want, got := string(canon.ArrayValue(values...).Canonical()), verbs.ListText(items); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

// sharing is a store in which one commit of several verbs has more records than a
// row holds, and others have one each.
func sharing(t *testing.T) (s *sqlite.Store, path string, agents []string) {
	t.Helper()
	s, path = newStore(t)
	admin(t, s)
	begin(t, s, "act_1")
	var verbs []func() error
	for i := range 5 {
		var all []audit.Record
		for n := range 60 {
			agents = append(agents, fmt.Sprintf("agent %d of %s", n%3, strings.Repeat("x", 40)))
			all = append(all, audit.Record{Event: audit.InputRejected, Tenant: "acme", Tool: "bank.pay", By: "user:pat",
				Agent: agents[len(agents)-1], Code: fmt.Sprint(i, n)})
		}
		verbs = append(verbs, func() error { return s.RecordTogether(all) })
	}
	for _, err := range s.TogetherAfterOthers(verbs...) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s, path, agents
}

// TestRecordsOfOneCommitShareWords, each row its own, and are read as they are
// elsewhere. Those of a commit that has few have none.
func TestRecordsOfOneCommitShareWords(t *testing.T) {
	t.Parallel()
	s, path, agents := sharing(t)
	all := entriesOf(t, s)
	var got []string
	for i, e := range all {
		r, err := audit.ParseLeaf(e.Leaf)
		if err != nil || r.Seq != int64(i)+1 {
			t.Fatalf("record %d is number %d: %v", i+1, r.Seq, err)
		}
		if leaf, err := r.Leaf(); err != nil || !bytes.Equal(leaf, e.Leaf) {
			t.Errorf("record %d would be written in another way: %v", r.Seq, err)
		}
		if r.Event == audit.InputRejected {
			got = append(got, r.Agent)
		}
	}
	if diff := cmp.Diff(agents, got); diff != "" {
		t.Error(diff)
	}
	db := raw(t, path)
	for want, where := range map[int]string{3: "count > 4 AND length(words) BETWEEN 100 AND 300", 0: "(count < 4) <> (words IS NULL)"} {
		if n, err := rows(db, "SELECT count(*) FROM event_pack WHERE "+where); err != nil || n != want {
			t.Errorf("%d rows have %s, want %d: %v", n, where, want, err)
		}
	}
	if n, err := rows(db, "SELECT sum(length(leaves)) / sum(count) FROM event_pack WHERE count > 4"); err != nil || n > 60 {
		t.Errorf("a record takes %d bytes beside the words, at most 60 are wanted: %v", n, err)
	}
	signed := signedLog(t, s)
	if r, err := verifyAt(t, path, signed); err != nil || r.Signed != int64(len(all)) {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := sqlite.Check(t.Context(), path, options(t)); err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if records, err := s.Records(t.Context(), audit.Filter{Tenant: "acme", Event: audit.InputRejected, Limit: 1000}); err != nil || len(records) != len(agents) {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// TestChangedWordsAreSeen by a check and by whoever verifies.
func TestChangedWordsAreSeen(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"taken out":    "words = NULL",
		"cut":          "words = substr(words, 1, length(words) - 1)",
		"exchanged":    "words = (SELECT CAST(replace(words, 'user:pat', 'user:eve') AS BLOB))",
		"of some kind": "words = x'8300'",
	} {
		s, path, _ := sharing(t)
		signed := signedLog(t, s)
		sql(t, raw(t, path), "DROP TRIGGER event_pack_frozen; UPDATE event_pack SET "+change+" WHERE words IS NOT NULL")
		if r, err := verifyAt(t, path, signed); err == nil {
			t.Errorf("%s: it verifies: %+v", name, r)
		}
		r, err := sqlite.Check(t.Context(), path, options(t))
		if found := strings.Contains(strings.Join(r.Faults, "\n"), "record "); !errors.Is(err, sqlite.ErrFaults) || !found && name != "exchanged" {
			t.Errorf("%s: %q, %v", name, r.Faults, err)
		}
	}
}

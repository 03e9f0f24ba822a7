package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/sqlite"
)

func TestTamperedRowsAreNotReturned(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"arguments of another row":   "UPDATE action SET args = (SELECT args FROM action WHERE seq = 2) WHERE seq = 1",
		"arguments moved to raw":     "UPDATE action SET raw = args WHERE seq = 1",
		"arguments cut":              "UPDATE action SET args = substr(args, 1, length(args) - 1) WHERE seq = 1",
		"arguments gone":             "UPDATE action SET args = NULL WHERE seq = 1",
		"arguments exchanged":        "UPDATE action SET args = NULL WHERE seq = 1; INSERT INTO payload (action_seq, args) SELECT 1, args FROM action WHERE seq = 2",
		"payload gone":               "UPDATE action SET raw = NULL, requested = NULL, args = NULL WHERE seq = 1",
		"long: of another row":       "UPDATE payload SET args = (SELECT args FROM payload WHERE action_seq = 4) WHERE action_seq = 3",
		"long: moved to raw":         "UPDATE payload SET raw = args WHERE action_seq = 3",
		"long: cut":                  "UPDATE payload SET args = substr(args, 1, length(args) - 1) WHERE action_seq = 3",
		"long: covered":              "UPDATE action SET args = (SELECT args FROM action WHERE seq = 1) WHERE seq = 3",
		"long: gone":                 "DELETE FROM payload WHERE action_seq = 3",
		"another proposal hash":      "UPDATE action SET hash = randomblob(32) WHERE id = 'act_1'",
		"another tool":               "UPDATE action SET tool = 'bank.close' WHERE id = 'act_1'",
		"another agent":              "UPDATE action SET agent = 'other' WHERE id = 'act_1'",
		"another tenant":             "UPDATE action SET tenant = 'rival' WHERE id = 'act_1'",
		"a list that is not JSON":    "UPDATE action SET targets = '[{' WHERE id = 'act_1'",
		"a digest of the wrong size": "PRAGMA ignore_check_constraints = ON; UPDATE action SET fingerprint = x'00' WHERE id = 'act_1'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, path := newStore(t)
			begin(t, s, "act_1")
			begin(t, s, "act_2")
			beginLong(t, s, "act_3")
			beginLong(t, s, "act_4")
			db := raw(t, path)
			sql(t, db, "DROP TRIGGER action_frozen; DROP TRIGGER action_proposed; DROP TRIGGER action_payload; DROP TRIGGER payload_frozen;")
			sql(t, db, change)
			tenant, changed := "acme", "act_1"
			if strings.HasPrefix(name, "long:") {
				changed = "act_3"
			}
			if strings.Contains(change, "rival") {
				tenant = "rival"
			}
			got, err := s.Action(t.Context(), tenant, changed)
			if err == nil || errors.Is(err, action.ErrNotFound) || got.ID != "" {
				t.Fatalf("row %q, error %v", got.ID, err)
			}
			for _, other := range []string{"act_2", "act_4"} {
				if _, err := s.Action(t.Context(), "acme", other); err != nil {
					t.Fatalf("%s: %v", other, err)
				}
			}
		})
	}
}

func TestPayloadsAreSealedInTheFile(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	row := begin(t, s, "secret_in_arguments")
	if _, err := s.Finish(t.Context(), action.Ending{ID: row.ID, Fence: row.Fence, State: action.Succeeded,
		Result: action.Result{Output: []byte("secret_in_result")}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal"} {
		text, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(`"to":"secret_in_arguments"`)) || bytes.Contains(text, []byte("secret_in_result")) {
			t.Errorf("%s holds a payload in the clear", name)
		}
	}
}

// TestTriggersRefuse speaks to the database as a program with a bug would.
func TestTriggersRefuse(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	admin(t, s)
	begin(t, s, "act_1")
	beginLong(t, s, "act_3")
	row := pending(t, s, "act_2")
	if _, err := s.Vote(t.Context(), action.Vote{ActionID: row.ID, Voter: "acc_ann", Approve: true, Digest: row.Terms.Digest, LoginAt: row.UpdatedAt}); err != nil {
		t.Fatal(err)
	}
	claimed, err := s.Claim(t.Context(), row.ID, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(t.Context(), action.Start{Action: claimed, Lease: 1 << 40}); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	for _, text := range []string{
		"DELETE FROM action", "DELETE FROM event", "DELETE FROM vote", "DELETE FROM consumption", "DELETE FROM approval",
		"DELETE FROM attempt", "DELETE FROM account",
		"UPDATE event SET leaf = x'7b7d'", "UPDATE event SET salt = randomblob(32)", "UPDATE event SET seq = seq + 100",
		"UPDATE vote SET approve = 0", "UPDATE approval SET ttl = ttl * 2", "UPDATE consumption SET at = 0",
		"UPDATE action SET tool = 'x'", "UPDATE action SET hash = randomblob(32)", "UPDATE action SET fence = fence - 1",
		"UPDATE payload SET args = randomblob(64)", "UPDATE action SET args = randomblob(64)", "UPDATE policy_epoch SET epoch = epoch",
		"UPDATE time_floor SET at = at - 1",
		"INSERT INTO event (seq, id, at, tenant, event, action_id, leaf) VALUES (9999, 'x', 0, '', 'x', '', x'7b7d')",
		"INSERT INTO consumption SELECT randomblob(32), action_id, 0 FROM consumption",
		"INSERT INTO vote (action_id, voter, approve, reason, digest, nonce, method, envelope, at) SELECT action_id, 'acc_ann', 1, '', digest, '', '', x'', 0 FROM approval",
	} {
		if err := db.Exec(text); !errors.Is(err, sqlite3.CONSTRAINT) {
			t.Errorf("%s: error %v", text, err)
		}
	}
	sql(t, db, "UPDATE event SET salt = NULL; UPDATE payload SET raw = NULL; UPDATE action SET raw = NULL")
}

// TestTriggerKnowsTheStateTable compares the trigger with package action for
// every pair of stored states.
func TestTriggerKnowsTheStateTable(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	begin(t, s, "act_1")
	db := raw(t, path)
	sql(t, db, "PRAGMA ignore_check_constraints = ON; DROP TRIGGER action_start; DROP TRIGGER action_frozen;"+
		" CREATE TEMP TABLE one AS SELECT * FROM action")
	for _, from := range action.States() {
		for _, to := range action.States() {
			sql(t, db, fmt.Sprintf("UPDATE one SET seq = NULL, id = '%[1]s %[2]s', state = '%[1]s'; INSERT INTO action SELECT * FROM one",
				from, to))
			err := db.Exec(fmt.Sprintf("UPDATE action SET state = '%[2]s' WHERE id = '%[1]s %[2]s'", from, to))
			want := action.CanMove(from, to) && from != action.Received
			if (err == nil) != want {
				t.Errorf("%s to %s: allowed %t, want %t", from, to, err == nil, want)
			}
		}
	}
}

func TestARecordThatCannotBeWrittenRefusesTheVerb(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	a := allowed(t, s, "act_1")
	sql(t, raw(t, path), "CREATE TRIGGER broken BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'the log is broken'); END")
	if _, err := s.Begin(t.Context(), action.Start{Action: a, Lease: 1 << 40}); err == nil || !strings.Contains(err.Error(), "the log is broken") {
		t.Fatalf("error %v", err)
	}
	if err := s.RejectInput(t.Context(), action.Rejection{Tenant: "acme", Stage: "json"}); err == nil {
		t.Fatal("a rejection without a record")
	}
	a.Mutation = false
	if _, err := s.Decide(t.Context(), a); err == nil {
		t.Fatal("a read without a record")
	}
	if _, err := s.Action(t.Context(), "acme", "act_1"); !errors.Is(err, action.ErrNotFound) {
		t.Fatalf("the row stayed: %v", err)
	}
	sql(t, raw(t, path), "DROP TRIGGER broken")
	begin(t, s, "act_1")
}

func TestOpenerSeesForeignEditsOfTheSealCheck(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sql(t, raw(t, path), "UPDATE seal_check SET sealed = randomblob(45)")
	if _, err := sqlite.Open(path, sqlite.Options{Sealer: fixedSealer(t)}); !errors.Is(err, sqlite.ErrSealKey) {
		t.Fatalf("error %v, want ErrSealKey", err)
	}
}

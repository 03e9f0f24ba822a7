package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

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
	finish(t, s, begin(t, s, "act_4"), action.Succeeded)
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
	if err := s.Enlist(); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	for _, text := range []string{
		"DELETE FROM action", "DELETE FROM event_pack", "DELETE FROM vote", "DELETE FROM consumption", "DELETE FROM approval",
		"DELETE FROM attempt", "DELETE FROM account",
		"UPDATE event_pack SET leaves = x'00027b7d'", "UPDATE event_pack SET salts = randomblob(length(salts))", "UPDATE event_pack SET first = first + 100",
		"UPDATE event_pack SET salts = CAST(substr(salts, 2) || x'00' AS BLOB)", "UPDATE event_pack SET salts = x'', count = 0", "UPDATE event_pack SET at = at + 1", "UPDATE event_pack SET words = x'0141'",
		"UPDATE vote SET approve = 0", "UPDATE approval SET ttl = ttl * 2", "UPDATE consumption SET at = 0",
		"UPDATE action SET tool = 'x'", "UPDATE action SET hash = randomblob(32)", "UPDATE action SET fence = fence - 1",
		"UPDATE payload SET args = randomblob(64)", "UPDATE action SET args = randomblob(64)", "UPDATE policy_epoch SET epoch = epoch",
		"UPDATE time_floor SET at = at - 1",
		"INSERT INTO event_pack (first, count, at, salts, leaves) VALUES (9999, 1, 0, randomblob(32), x'00027b7d')",
		"INSERT INTO event_pack (first, count, at, salts, leaves) SELECT max(first), 1, 0, randomblob(32), x'00027b7d' FROM event_pack",
		"UPDATE event_of SET first = 1", "DELETE FROM event_of", "UPDATE event_in SET tenant = 'x'", "DELETE FROM event_in", "UPDATE event_listed SET seq = seq + 1000",
		"UPDATE action SET first_record = NULL", "UPDATE action SET first_record = first_record + 1", "UPDATE action SET end_record = NULL WHERE id = 'act_4'",
		"INSERT INTO consumption SELECT randomblob(32), action_id, 0 FROM consumption",
		"INSERT INTO vote (action_id, voter, approve, reason, digest, nonce, method, envelope, at) SELECT action_id, 'acc_ann', 1, '', digest, '', '', x'', 0 FROM approval",
	} {
		if err := db.Exec(text); !errors.Is(err, sqlite3.CONSTRAINT) {
			t.Errorf("%s: error %v", text, err)
		}
	}
	sql(t, db, "UPDATE event_pack SET salts = zeroblob(length(salts)); UPDATE payload SET raw = NULL; UPDATE action SET raw = NULL")
}

// TestTriggerKnowsTheStateTable compares the trigger with package action for
// every pair of stored states.
func TestTriggerKnowsTheStateTable(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	begin(t, s, "act_1")
	db := raw(t, path)
	sql(t, db, "PRAGMA ignore_check_constraints = ON; DROP TRIGGER action_start; DROP TRIGGER action_frozen;"+
		" CREATE TEMP TABLE one AS SELECT * FROM action; UPDATE one SET swift = 0")
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

// TestAStateThatIsRefusedLeavesNothing: the checks look at the row when it is
// written, and take it back with all of its transaction.
func TestAStateThatIsRefusedLeavesNothing(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	begin(t, s, "act_1")
	db := raw(t, path)
	for _, text := range []string{
		"INSERT INTO action (" + shape + ") SELECT " + strings.Replace(strings.Replace(shape, "id,", "'act_2',", 1), "state,", "'succeeded',", 1) + " FROM action",
		"UPDATE action SET state = 'approved', deadline = 1, lease_until = NULL",
	} {
		for _, before := range []string{"", "BEGIN; UPDATE action SET caller_gone = 1; "} {
			if err := db.Exec(before + text); !errors.Is(err, sqlite3.CONSTRAINT_TRIGGER) {
				t.Errorf("%s%s: error %v", before, text, err)
			}
			if !db.GetAutocommit() {
				t.Errorf("%s%s: the transaction goes on", before, text)
			}
			n, err := rows(db, "SELECT count(*) FROM action WHERE id = 'act_1' AND state = 'executing' AND caller_gone = 0")
			if all, err2 := rows(db, "SELECT count(*) FROM action"); n != 1 || all != 1 || errors.Join(err, err2) != nil {
				t.Errorf("%s%s: %d of %d rows are as they were: %v", before, text, n, all, errors.Join(err, err2))
			}
		}
	}
}

// shape are columns of action, enough for a row.
const shape = "id, kind, tenant, principal, agent, owner, task, grant_id, tool, mutation, high_impact, state, fence, attempt, created_at," +
	"updated_at, targets, evidence, changes, key, supersedes, caller_gone, model, call_id, effect, code, reason, public_reason, result_mode," +
	"policy_version, rules, process"

func rows(db *sqlite3.Conn, sql string) (n int, err error) {
	s, _, err := db.Prepare(sql)
	if err != nil {
		return 0, err
	}
	if s.Step() {
		n = s.ColumnInt(0)
	}
	return n, errors.Join(s.Err(), s.Close())
}

// TestAVerbWhoseTransactionIsTakenBackHarmsNoOther lets the database take a
// transaction back in the middle of a batch.
func TestAVerbWhoseTransactionIsTakenBackHarmsNoOther(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	sql(t, raw(t, path), "CREATE TRIGGER broken AFTER INSERT ON action WHEN NEW.id LIKE '%_3' BEGIN SELECT RAISE(ROLLBACK, 'not this one'); END")
	var all sync.WaitGroup
	for i := range 12 {
		a := allowed(t, s, fmt.Sprintf("act_%d", i))
		all.Go(func() {
			_, err := s.Begin(t.Context(), action.Start{Action: a, Lease: time.Minute})
			if refused := err != nil; refused != (i == 3) {
				t.Errorf("row %d: %v", i, err)
			}
		})
	}
	all.Wait()
	for i := range 12 {
		if _, err := s.Action(t.Context(), "acme", fmt.Sprintf("act_%d", i)); errors.Is(err, action.ErrNotFound) != (i == 3) {
			t.Errorf("row %d is there: %v", i, err)
		}
	}
}

func TestARecordThatCannotBeWrittenRefusesTheVerb(t *testing.T) {
	t.Parallel()
	s, path := newStore(t)
	a := allowed(t, s, "act_1")
	sql(t, raw(t, path), "CREATE TRIGGER broken BEFORE INSERT ON event_pack BEGIN SELECT RAISE(ABORT, 'the log is broken'); END")
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

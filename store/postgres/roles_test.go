package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/pgtest"
	"github.com/seed-de4804fb/verbatim/store/postgres"
)

// sqlState is the code of a server's refusal.
func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return fmt.Sprint(err)
}

func TestRoleOfAGatewayCannotRewriteThePast(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	owner := server.Schema(t)
	server.Exec(t, "CREATE ROLE gateway LOGIN; CREATE ROLE stranger LOGIN")
	_, to, err := postgres.Migrate(t.Context(), owner, "gateway")
	must(t, err)
	if from, again, err := postgres.Migrate(t.Context(), owner, "gateway"); err != nil || from != to || again != to {
		t.Errorf("again: from %d to %d, %v", from, again, err)
	}
	gateway := strings.Replace(owner, "user=postgres", "user=gateway", 1)

	s := openAt(t, gateway, nil)
	admin(t, s)
	life(t, s)

	if n := number(t, owner, `SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()
		AND NOT has_table_privilege('gateway', quote_ident(schemaname) || '.' || quote_ident(tablename), 'SELECT')`); n != 0 {
		t.Errorf("%d tables that a gateway cannot read: the grants lag behind the migrations", n)
	}
	for _, text := range []string{
		"UPDATE tree_hash SET hash = hash", "DELETE FROM tree_hash", "TRUNCATE tree_hash", "DELETE FROM head", "INSERT INTO head SELECT * FROM head",
		"UPDATE log SET origin = 'x'", "DELETE FROM log", "UPDATE checkpoint SET root = root", "DELETE FROM budget", "UPDATE reservation SET amount = 0", "DELETE FROM reservation", "UPDATE budget SET tenant = 'x'",
		"UPDATE event SET body = '{}'", "DELETE FROM event", "TRUNCATE event CASCADE", "UPDATE leaf SET leaf = '{}'", "DELETE FROM leaf",
		"DELETE FROM salt", "UPDATE salt SET salt = salt", "DELETE FROM action", "UPDATE action SET tool = 'x'", "UPDATE action SET hash = NULL",
		"UPDATE action SET high_impact = FALSE", "UPDATE action SET principal = 'x'", "UPDATE payload SET args = NULL",
		"UPDATE vote SET approve = TRUE", "DELETE FROM vote", "UPDATE approval SET ttl = 1", "DELETE FROM approval", "DELETE FROM consumption",
		"UPDATE consumption SET at = 0", "DELETE FROM attempt", "DELETE FROM idempotency", "DELETE FROM account", "UPDATE account SET tenant = 'x'",
		"UPDATE credential SET public_key = ''", "DELETE FROM credential", "DELETE FROM policy_epoch", "DELETE FROM time_floor", "UPDATE time_ahead SET at = 1", "TRUNCATE time_ahead",
		"UPDATE invitation SET groups = '[]'", "DELETE FROM invitation", "UPDATE delegation SET delegate = 'x'", "DELETE FROM delegation", "UPDATE standing_grant SET max_uses = 1000", "UPDATE standing_grant SET scope = NULL",
		"DELETE FROM standing_grant", "UPDATE standing_vote SET voter = 'x'", "DELETE FROM standing_vote", "UPDATE standing_cover SET grant_id = 'x'", "DELETE FROM standing_cover", "UPDATE account SET issuer = 'x'",
		"UPDATE account_group SET name = 'operator'", "UPDATE schema_version SET version = 99", "DROP TABLE event",
		"ALTER TABLE event DISABLE TRIGGER ALL", "DELETE FROM follower", "UPDATE follower SET name = 'x'", "CREATE TABLE x (n BIGINT)", "UPDATE retention SET kept = 0", "DELETE FROM held", "DROP FUNCTION refuse() CASCADE",
	} {
		if got := sqlState(sql(t.Context(), gateway, text)); got != "42501" { // insufficient privilege
			t.Errorf("%s: %s, want 42501", text, got)
		}
	}
	stranger := strings.Replace(owner, "user=postgres", "user=stranger", 1)
	if _, err := postgres.Open(t.Context(), postgres.Options{DSN: stranger, Sealer: fixedSealer(t)}); err == nil {
		t.Error("a role without rights opened the store")
	}
}

// life takes actions through every verb.
func life(t *testing.T, s *postgres.Store) {
	t.Helper()
	approved, err := s.Begin(t.Context(), action.Start{Action: claimed(t, s, "approved", lease), Lease: lease})
	must(t, err)
	_, err = s.Finish(t.Context(), success(approved))
	must(t, err)
	keyed := start(t, s, "keyed")
	keyed.Action.Key = "k"
	keyed.Limits = []action.Limit{{Name: "calls", Window: action.Day, Scope: "{}", Amount: 1, Most: 9}}
	run, err := s.Begin(t.Context(), keyed)
	must(t, err)
	must(t, s.Leave(t.Context(), run.ID))
	_, err = s.Finish(t.Context(), action.Ending{ID: run.ID, Fence: 1, State: action.Failed, Result: action.Result{Evidence: "proved"}})
	must(t, err)
	again := start(t, s, "again")
	again.Action.Key, again.Action.Fingerprint = "k", keyed.Action.Fingerprint
	run, err = s.Begin(t.Context(), again)
	must(t, err)
	_, err = s.Finish(t.Context(), action.Ending{ID: run.ID, Fence: 1, State: action.Uncertain})
	must(t, err)
	_, err = s.Reconcile(t.Context(), action.Reconciliation{ID: run.ID, State: action.ReconciledSucceeded, By: "acc_ann", Evidence: "seen"})
	must(t, err)
	_, err = s.Expire(t.Context(), true)
	must(t, err)
	_, err = s.SetPolicy(t.Context(), "acme", tool, canon.Sum([]byte("newer")))
	must(t, err)
	_, err = s.Stop(t.Context(), action.Stop{Tenant: "acme", By: "acc_ann", Reason: "x"})
	must(t, err)
	must(t, s.Resume(t.Context(), action.Stop{Tenant: "acme", By: "acc_ann"}))
	must(t, s.SetPassword(t.Context(), "acc_ann", "hash", run.CreatedAt))
	must(t, s.Disable(t.Context(), "acc_ann"))
	_, err = s.Follow(t.Context(), "siem", "one", 0, lease)
	must(t, err)
	if moved, err := s.Advance(t.Context(), "siem", "one", 1); err != nil || !moved {
		t.Errorf("advance: %v, %v", moved, err)
	}
	records, err := s.Records(t.Context(), audit.Filter{Tenant: "acme"})
	must(t, err)
	if len(records) < 15 {
		t.Errorf("%d records", len(records))
	}
}

// The triggers are the second line: they hold for the owner of the tables,
// too.
func TestTriggersRefuseWhatNoVerbDoes(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	s := openAt(t, dsn, nil)
	admin(t, s)
	run, err := s.Begin(t.Context(), action.Start{Action: claimed(t, s, "one", lease), Lease: lease})
	must(t, err)
	_, err = s.Finish(t.Context(), success(run))
	must(t, err)
	_, err = s.Records(t.Context(), audit.Filter{})
	must(t, err)
	for _, text := range []string{
		"UPDATE action SET state = 'executing', lease_until = 1", "UPDATE action SET state = 'approved'", "UPDATE action SET fence = 0",
		"UPDATE action SET tool = 'x'", "UPDATE action SET hash = NULL", "DELETE FROM payload; DELETE FROM action", "TRUNCATE action CASCADE",
		"UPDATE payload SET args = raw", "UPDATE vote SET approve = FALSE", "DELETE FROM vote", "UPDATE approval SET ttl = 1", "DELETE FROM approval",
		"UPDATE consumption SET at = 0", "DELETE FROM consumption", "DELETE FROM attempt", "UPDATE policy_epoch SET epoch = epoch",
		"UPDATE time_floor SET at = 0", "UPDATE event SET body = '{}'", "DELETE FROM event", "TRUNCATE event CASCADE", "UPDATE leaf SET seq = 0", "DELETE FROM leaf",
		"INSERT INTO leaf (seq, place, leaf) SELECT max(seq) + 2, 0, '{}' FROM leaf", "UPDATE salt SET salt = salt", "DELETE FROM account",
		`INSERT INTO vote (tenant, action_id, voter, approve, reason, digest, nonce, method, envelope, at)
			SELECT tenant, 'one', 'acc_ann', TRUE, '', digest, 'x', '', '', 0 FROM vote`,
	} {
		if got := sqlState(sql(t.Context(), dsn, text)); got != "23001" { // restrict violation
			t.Errorf("%s: %s, want 23001", text, got)
		}
	}
}

// The constraints are the third.
func TestConstraintsRefuseRowsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dsn := server.Schema(t)
	s := openAt(t, dsn, nil)
	begin(t, s, "one")
	for _, text := range []string{
		"UPDATE action SET state = 'succeeded'", // still leased
		"UPDATE action SET state = 'failed', lease_until = NULL",
		"UPDATE action SET attempt = 0", "UPDATE action SET effect = 'deny'", "UPDATE action SET lease_until = NULL",
		"UPDATE action SET state = 'running'",
	} {
		if got := sqlState(sql(t.Context(), dsn, text)); got != "23514" && got != "23001" { // check violation
			t.Errorf("%s: %s, want a refusal", text, got)
		}
	}
	if got := sqlState(sql(t.Context(), dsn, "INSERT INTO idempotency VALUES ('rival', 'p', 'k', 'one', 0)")); got != "23503" {
		t.Errorf("a key of one tenant led to an action of another: %s", got)
	}
}

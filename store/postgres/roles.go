package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// grants are the least rights that a gateway needs. It may not change or
// remove what was decided, voted, consumed or recorded: not even a gateway
// that was taken over can rewrite the past. ROLE stands for the role.
const grants = `
GRANT USAGE ON SCHEMA SCHEMA TO ROLE;
GRANT SELECT, INSERT ON action, payload, approval, vote, consumption, attempt, idempotency, policy_epoch, stop, account,
	account_group, invitation, delegation, login, credential, event, salt, unnumbered, leaf, process, seal_check, budget, reservation,
	log, tree_hash, checkpoint TO ROLE;
GRANT SELECT, INSERT ON standing_grant, standing_vote, standing_cover TO ROLE;
GRANT SELECT, INSERT ON follower, time_ahead TO ROLE;
GRANT SELECT ON numbering, time_floor, schema_version, head, retention, held TO ROLE;
GRANT USAGE ON SEQUENCE action_seq TO ROLE;
GRANT UPDATE (state, fence, lease_until, attempt, updated_at, deadline, caller_gone, effect, code, reason, public_reason,
	result_mode, policy_version, rules, ended_at, end_error, end_evidence, end_code, end_detail, end_comparison, process,
	timeline) ON action TO ROLE;
GRANT UPDATE (result) ON payload TO ROLE;
GRANT UPDATE (ended_at, outcome) ON attempt TO ROLE;
GRANT UPDATE (action_id, created_at) ON idempotency TO ROLE;
GRANT UPDATE ON policy_epoch, stop, process TO ROLE;
GRANT UPDATE (password_hash, password_at, active) ON account TO ROLE;
GRANT UPDATE (idle_until) ON login TO ROLE;
GRANT UPDATE (sign_count, used_at, revoked_at) ON credential TO ROLE;
GRANT UPDATE (most, reserved, posted) ON budget TO ROLE;
GRANT UPDATE (state, at) ON reservation TO ROLE;
GRANT UPDATE (at) ON time_floor TO ROLE;
GRANT UPDATE (last) ON numbering TO ROLE;
GRANT UPDATE (size, root, at) ON head TO ROLE;
GRANT UPDATE (note) ON checkpoint TO ROLE;
GRANT UPDATE (next, owner, until, at) ON follower TO ROLE;
GRANT UPDATE (used_by, used_at) ON invitation TO ROLE;
GRANT UPDATE (ended_at) ON delegation TO ROLE;
GRANT UPDATE (uses, spent, revoked_at, revoked_by) ON standing_grant TO ROLE;
GRANT UPDATE (used_at) ON standing_cover TO ROLE;
GRANT DELETE ON account_group, stop, login, unnumbered, process, checkpoint, time_ahead TO ROLE;
`

// Migrate brings the tables up to date and gives a role, unless it is "", what
// a gateway needs and nothing else. dsn is that of the tables' owner; the role
// exists. A gateway that demands a synchronous standby must also be a member
// of pg_read_all_stats, which only the server's administrator can give. It
// returns the versions of before and after.
func Migrate(ctx context.Context, dsn, role string) (from, to int, err error) {
	db, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return 0, 0, fmt.Errorf("migrate store: %w", err)
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	c := &conn{ctx: ctx, db: db}
	if from, err = version(c); err == nil {
		err = migrate(c)
	}
	if err == nil {
		to, err = version(c)
	}
	if err == nil && role != "" {
		err = grant(c, role)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("migrate store: %w", err)
	}
	return from, to, nil
}

func grant(c *conn, role string) error {
	return pgx.BeginFunc(c.ctx, c.db, func(pgx.Tx) error { return grantHere(c, role) })
}

// grantHere gives the rights inside the open transaction.
func grantHere(c *conn, role string) error {
	schema, err := currentSchema(c)
	if err != nil {
		return err
	}
	sql := strings.NewReplacer("SCHEMA SCHEMA", "SCHEMA "+pgx.Identifier{schema}.Sanitize(),
		"TO ROLE", "TO "+pgx.Identifier{role}.Sanitize()).Replace(grants)
	_, err = c.db.PgConn().Exec(c.ctx, sql).ReadAll()
	return err
}

package tables

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/auth"
	"github.com/seed-de4804fb/verbatim/store/verbs"
)

// SetGroups replaces the groups of an account.
func (b Book) SetGroups(ctx context.Context, id string, groups []string, by string) error {
	return b.manage(ctx, id, by, func(t Tx, a auth.Account) error {
		if _, err := t.Exec("DELETE FROM account_group WHERE account_id = $1", id); err != nil {
			return fmt.Errorf("replace groups: %w", err)
		}
		if err := addGroups(t, id, groups); err != nil {
			return err
		}
		return t.Record(audit.Record{Event: audit.GroupsChanged, Tenant: a.Tenant, By: by},
			verbs.Facts{"account": id, "groups": verbs.ListText(groups), "before": verbs.ListText(a.Groups)}, nil)
	})
}

// SetActive lets an account in or out.
func (b Book) SetActive(ctx context.Context, id string, active bool, by string) error {
	return b.manage(ctx, id, by, func(t Tx, a auth.Account) error {
		event := audit.AccountEnabled
		if !active {
			event = audit.AccountDisabled
			if err := endLogins(t, id); err != nil {
				return err
			}
		}
		if _, err := t.Exec("UPDATE account SET active = $1 WHERE id = $2", active, id); err != nil {
			return fmt.Errorf("alter account: %w", err)
		}
		return t.Record(audit.Record{Event: event, Tenant: a.Tenant, By: by}, verbs.Facts{"account": id}, nil)
	})
}

// manage changes an account for an active one of the same tenant, and undoes
// it where nobody would be left.
func (b Book) manage(ctx context.Context, id, by string, change func(Tx, auth.Account) error) error {
	return b.change(ctx, func(t Tx) error {
		a, err := accountOf(t, id)
		if err != nil {
			return err
		}
		if err := t.Hold("SELECT 1 FROM account WHERE tenant = $1 ORDER BY id", a.Tenant); err != nil { // two must not shut each other out
			return err
		}
		_, err = activeOf(t, a.Tenant, by)
		if errors.Is(err, auth.ErrNoAccount) {
			err = auth.ErrNotManager
		}
		if err != nil {
			return err
		}
		if a, err = accountOf(t, id); err != nil { // as it is now that it is held
			return err
		}
		_, before, err := active(t, a.Tenant)
		if err != nil {
			return err
		}
		if err := change(t, a); err != nil {
			return err
		}
		people, operators, err := active(t, a.Tenant)
		if err == nil && (people == 0 || before > 0 && operators == 0) {
			err = auth.ErrLast
		}
		return err
	})
}

// active counts the active accounts of a tenant, and the operators of them.
func active(c Reader, tenant string) (people, operators int64, err error) {
	if people, err = number(c, "SELECT count(*) FROM account WHERE tenant = $1 AND active", tenant); err != nil {
		return 0, 0, err
	}
	operators, err = number(c, `SELECT count(*) FROM account a JOIN account_group g ON g.account_id = a.id
		WHERE a.tenant = $1 AND a.active AND g.name = $2`, tenant, action.GroupOperator)
	return people, operators, err
}

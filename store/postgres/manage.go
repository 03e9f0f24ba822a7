package postgres

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
func (s *Store) SetGroups(ctx context.Context, id string, groups []string, by string) error {
	return s.manage(ctx, id, by, func(t *tx, a auth.Account) error {
		if _, err := t.exec("DELETE FROM account_group WHERE account_id = $1", id); err != nil {
			return fmt.Errorf("replace groups: %w", err)
		}
		if err := t.addGroups(id, groups); err != nil {
			return err
		}
		return t.record(audit.Record{Event: audit.GroupsChanged, Tenant: a.Tenant, By: by},
			verbs.Facts{"account": id, "groups": verbs.ListText(groups), "before": verbs.ListText(a.Groups)}, nil)
	})
}

// SetActive lets an account in or out.
func (s *Store) SetActive(ctx context.Context, id string, active bool, by string) error {
	return s.manage(ctx, id, by, func(t *tx, a auth.Account) error {
		event := audit.AccountEnabled
		if !active {
			event = audit.AccountDisabled
			if _, err := t.exec("DELETE FROM login WHERE account_id = $1", id); err != nil {
				return fmt.Errorf("end logins: %w", err)
			}
		}
		if _, err := t.exec("UPDATE account SET active = $1 WHERE id = $2", active, id); err != nil {
			return fmt.Errorf("alter account: %w", err)
		}
		return t.record(audit.Record{Event: event, Tenant: a.Tenant, By: by}, verbs.Facts{"account": id}, nil)
	})
}

// manage changes an account for an active one of the same tenant, and undoes
// it where nobody would be left.
func (s *Store) manage(ctx context.Context, id, by string, change func(*tx, auth.Account) error) error {
	return s.book(ctx, func(t *tx) error {
		found, err := accounts(t.conn, "WHERE id = $1", id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return auth.ErrNoAccount
		}
		tenant := found[0].Tenant
		if _, err := t.exec("SELECT 1 FROM account WHERE tenant = $1 ORDER BY id FOR UPDATE", tenant); err != nil { // two must not shut each other out
			return err
		}
		who, err := person(t.conn, by, t.now(), lockVoters)
		if errors.Is(err, action.ErrIneligible) || err == nil && (!who.Active || who.Tenant != tenant) {
			err = auth.ErrNotManager
		}
		if err != nil {
			return err
		}
		_, before, err := t.active(tenant)
		if err != nil {
			return err
		}
		if err := change(t, found[0]); err != nil {
			return err
		}
		people, operators, err := t.active(tenant)
		if err == nil && (people == 0 || before > 0 && operators == 0) {
			err = auth.ErrLast
		}
		return err
	})
}

// active counts the active accounts of a tenant, and the operators of them.
func (t *tx) active(tenant string) (people, operators int64, err error) {
	if people, err = t.number("SELECT count(*) FROM account WHERE tenant = $1 AND active", tenant); err != nil {
		return 0, 0, err
	}
	operators, err = t.number(`SELECT count(*) FROM account a JOIN account_group g ON g.account_id = a.id
		WHERE a.tenant = $1 AND a.active AND g.name = $2`, tenant, action.GroupOperator)
	return people, operators, err
}

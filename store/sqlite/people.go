package sqlite

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/tables"
)

// person returns an account as far as votes care. One that does not exist is
// ErrIneligible: it may not do anything.
func person(c *conn, id string, now time.Time) (action.Person, error) {
	var p action.Person
	found, err := c.one(func(cur *cursor) error {
		p = action.Person{ID: cur.text(), Name: cur.text(), Tenant: cur.text(), Principal: cur.text(), Identity: action.Identity(cur.text(), cur.text()), Active: cur.bool()}
		return nil
	}, "SELECT id, name, tenant, principal, issuer, subject, active FROM account WHERE id = ?", id)
	if err == nil && !found {
		err = action.ErrIneligible
	}
	if err != nil {
		return action.Person{}, err
	}
	if p.Groups, err = groupsOf(c, id); err != nil {
		return p, err
	}
	p.For, err = delegators(c, id, now)
	return p, err
}

// delegators are the active people whom somebody stands in for at a time.
func delegators(c *conn, id string, now time.Time) (out []action.Person, err error) {
	err = c.query(func(cur *cursor) error {
		out = append(out, action.Person{ID: cur.text(), Name: cur.text(), Tenant: cur.text(), Principal: cur.text(), Identity: action.Identity(cur.text(), cur.text()), Active: true})
		return nil
	}, `SELECT DISTINCT a.id, a.name, a.tenant, a.principal, a.issuer, a.subject FROM delegation d JOIN account a ON a.id = d.delegator AND a.tenant = d.tenant
		WHERE d.delegate = ? AND d.ended_at IS NULL AND d.starts_at <= ? AND d.ends_at > ? AND a.active = 1 ORDER BY a.id`, id, now, now)
	for i := range out {
		if err == nil {
			out[i].Groups, err = groupsOf(c, out[i].ID)
		}
	}
	return out, err
}

// inviters are the accounts by whose invitation an account was made, nearest
// first, at most a few.
func inviters(c *conn, id string) (out []action.Person, err error) {
	err = c.query(func(cur *cursor) error {
		out = append(out, action.Person{ID: cur.text(), Principal: cur.text(), Identity: action.Identity(cur.text(), cur.text())})
		return nil
	}, `WITH RECURSIVE named (id, far) AS (SELECT CAST(? AS TEXT), 0 UNION ALL SELECT i.by, n.far + 1 FROM invitation i JOIN named n ON i.used_by = n.id WHERE n.far < 20)
		SELECT a.id, a.principal, a.issuer, a.subject FROM named n CROSS JOIN account a ON a.id = n.id WHERE n.far > 0 ORDER BY n.far`, id)
	return out, err
}

func groupsOf(c *conn, id string) ([]string, error) {
	var out []string
	err := c.query(func(cur *cursor) error { out = append(out, cur.text()); return nil },
		"SELECT name FROM account_group WHERE account_id = ? ORDER BY name", id)
	return out, err
}

func (t *tx) actor(row action.Action, id string) (action.Person, error) {
	return tables.Actor(t, row, id)
}

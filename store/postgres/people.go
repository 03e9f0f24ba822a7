package postgres

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/store/tables"
)

// person returns an account as far as votes care. One that does not exist is
// ErrIneligible: it may not do anything. lock is "" or a locking clause.
func person(c *conn, id string, now time.Time, lock string) (action.Person, error) {
	var p action.Person
	var groups []string
	var represented []action.Person
	err := c.run(ask(func(cur *cursor) error {
		p = action.Person{ID: cur.text(), Name: cur.text(), Tenant: cur.text(), Principal: cur.text(), Identity: action.Identity(cur.text(), cur.text()), Active: cur.bool()}
		return nil
	}, "SELECT id, name, tenant, principal, issuer, subject, active FROM account WHERE id = $1"+lock, id),
		groupsStep(id, &groups), delegatorsStep(id, now, &represented))
	if err == nil && p.ID == "" {
		err = action.ErrIneligible
	}
	if err != nil {
		return action.Person{}, err
	}
	for i := range represented {
		if represented[i].Groups, err = groupsOf(c, represented[i].ID); err != nil {
			return p, err
		}
	}
	p.Groups, p.For = groups, represented
	return p, nil
}

// delegatorsStep asks for the active people whom somebody stands in for at a
// time.
func delegatorsStep(id string, now time.Time, out *[]action.Person) step {
	return ask(func(cur *cursor) error {
		*out = append(*out, action.Person{ID: cur.text(), Name: cur.text(), Tenant: cur.text(), Principal: cur.text(), Identity: action.Identity(cur.text(), cur.text()), Active: true})
		return nil
	}, `SELECT DISTINCT a.id, a.name, a.tenant, a.principal, a.issuer, a.subject FROM delegation d JOIN account a ON a.id = d.delegator AND a.tenant = d.tenant
		WHERE d.delegate = $1 AND d.ended_at IS NULL AND d.starts_at <= $2 AND d.ends_at > $2 AND a.active ORDER BY a.id`, id, now)
}

// inviters are the accounts by whose invitation an account was made, nearest
// first, at most a few.
func inviters(c *conn, id string) (out []action.Person, err error) {
	err = c.query(func(cur *cursor) error {
		out = append(out, action.Person{ID: cur.text(), Principal: cur.text(), Identity: action.Identity(cur.text(), cur.text())})
		return nil
	}, `WITH RECURSIVE named (id, far) AS (SELECT $1::text COLLATE "C", 0 UNION ALL SELECT i.by, n.far + 1 FROM invitation i JOIN named n ON i.used_by = n.id WHERE n.far < 20)
		SELECT a.id, a.principal, a.issuer, a.subject FROM named n JOIN account a ON a.id = n.id WHERE n.far > 0 ORDER BY n.far`, id)
	return out, err
}

func groupsOf(c *conn, id string) ([]string, error) {
	var out []string
	err := c.run(groupsStep(id, &out))
	return out, err
}

func groupsStep(id string, out *[]string) step {
	return ask(func(cur *cursor) error { *out = append(*out, cur.text()); return nil },
		"SELECT name FROM account_group WHERE account_id = $1 ORDER BY name", id)
}

func (t *tx) actor(row action.Action, id string) (action.Person, error) {
	return tables.Actor(t, row, id)
}

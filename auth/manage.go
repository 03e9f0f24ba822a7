package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/action"
)

// ManageBook changes what accounts may do. Every method is one durable
// transaction that fails with ErrNoAccount, or ErrNotManager where by is not
// an active account of the same tenant.
type ManageBook interface {
	// SetGroups replaces the groups of an account. It fails with ErrLast where
	// nobody active would be left in the group operator, and somebody was.
	SetGroups(ctx context.Context, id string, groups []string, by string) error
	// SetActive lets an account in or out; out ends its logins. It fails with
	// ErrLast for the last active account of a tenant, and as SetGroups does.
	SetActive(ctx context.Context, id string, active bool, by string) error
}

// The refusals of managing.
var (
	ErrNotManager = errors.New("only an account of the group operator may do this, or any where there is none")
	ErrLast       = errors.New("nobody would be left who can do this")
	ErrOwnGroups  = errors.New("nobody changes their own groups")
)

// maxGroups bounds the groups of one account, maxGroupName a name in bytes.
const (
	maxGroups    = 50
	maxGroupName = 100
)

// MayManage reports whether a person may invite and manage others: an active
// member of the group operator; where a tenant has none, any active account.
func (a *Accounts) MayManage(ctx context.Context, who Account) (bool, error) {
	people, err := a.book.ListAccounts(ctx, who.Tenant)
	if err != nil {
		return false, fmt.Errorf("list accounts: %w", err)
	}
	some, own := false, false
	for _, p := range people {
		operator := slices.Contains(p.Groups, action.GroupOperator)
		some = some || p.Active && operator
		own = own || p.Active && p.ID == who.ID && operator
	}
	active := slices.ContainsFunc(people, func(p Account) bool { return p.ID == who.ID && p.Active })
	return active && (own || !some), nil
}

func (a *Accounts) mustManage(ctx context.Context, who Account) error {
	may, err := a.MayManage(ctx, who)
	if err == nil && !may {
		err = ErrNotManager
	}
	return err
}

// SetGroups replaces somebody else's groups. It fails with ErrNotManager,
// ErrOwnGroups, ErrGroup, ErrNoAccount or ErrLast.
func (a *Accounts) SetGroups(ctx context.Context, by Account, id string, groups []string) error {
	if by.ID == id {
		return ErrOwnGroups
	}
	groups, err := cleanGroups(groups)
	if err == nil {
		err = a.mayChange(ctx, by, id)
	}
	if err != nil {
		return err
	}
	return a.book.SetGroups(ctx, id, groups, by.ID)
}

// SetActive disables an account, or lets it in again. It fails with
// ErrNotManager, ErrNoAccount or ErrLast.
func (a *Accounts) SetActive(ctx context.Context, by Account, id string, active bool) error {
	if err := a.mayChange(ctx, by, id); err != nil {
		return err
	}
	return a.book.SetActive(ctx, id, active, by.ID)
}

// mayChange: accounts of other tenants do not exist.
func (a *Accounts) mayChange(ctx context.Context, by Account, id string) error {
	if err := a.mustManage(ctx, by); err != nil {
		return err
	}
	other, err := a.book.AccountByID(ctx, id)
	if err == nil && other.Tenant != by.Tenant {
		err = ErrNoAccount
	}
	return err
}

// cleanGroups sorts names of groups, each once. It fails with ErrGroup.
func cleanGroups(names []string) ([]string, error) {
	out := []string{}
	for _, name := range names {
		name = strings.TrimSpace(name)
		label, ok := cleanLabel(name)
		if !ok || label != name || len(name) > maxGroupName {
			return nil, ErrGroup
		}
		out = append(out, name)
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) > maxGroups {
		return nil, ErrGroup
	}
	return out, nil
}

package daemon

import (
	"context"

	"github.com/seed-de4804fb/verbatim/internal/origin"
)

// Orphan is a passkey that nobody can use at the page's present origin.
type Orphan struct {
	Account string `json:"account"` // name
	Passkey string `json:"passkey"` // name that its owner gave it
	Host    string `json:"host"`    // that it was made for
}

// orphans lists the passkeys that the page's origin leaves behind.
func (d *Daemon) orphans(ctx context.Context) ([]Orphan, error) {
	at, err := origin.Parse(d.state.Page)
	if err != nil {
		return nil, err
	}
	found, err := d.cfg.Accounts.Orphans(ctx, origin.Name(at.Host()))
	out := []Orphan{}
	for _, c := range found {
		out = append(out, Orphan{d.voter(ctx, c.AccountID), c.Name, c.RPID})
	}
	return out, err
}

// warnOfOrphans says at the start what another origin has orphaned. What
// cannot be read now is said by status.
func (d *Daemon) warnOfOrphans(ctx context.Context) {
	found, err := d.orphans(ctx)
	if err != nil {
		d.log.Error("it could not be told which passkeys are of use", "error", err)
		return
	}
	for _, o := range found {
		d.log.Warn("a passkey is of no use at the page's origin", "account", o.Account, "passkey", o.Passkey, "host", o.Host, "origin", d.state.Page)
	}
}

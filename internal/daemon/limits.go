package daemon

import (
	"context"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/web/display"
)

// Limit is one limit that an action counts against, with what others have
// taken from its window. Amounts are texts with their currency.
type Limit struct {
	Name   string `json:"name"`
	Window string `json:"window"` // hour, day, week or month
	Scope  string `json:"scope"`  // RFC 8785 form of what the window is for
	Takes  string `json:"takes"`
	Left   string `json:"left"` // before this action
	Most   string `json:"most"`
	Over   bool   `json:"over,omitempty"` // there is no room for it now
}

// AmountText writes an amount of a limit: money exactly, anything else as a
// plain number.
func AmountText(n int64, currency string) string {
	if text, ok := (display.Reader{}).Minor(n, currency); ok && currency != "" {
		return text
	}
	return display.Reader{}.Integer(n)
}

func limitOf(r verbatim.Room) Limit {
	return Limit{Name: r.Name, Window: string(r.Window), Scope: r.Scope, Takes: AmountText(r.Amount, r.Currency),
		Left: AmountText(r.Left(), r.Currency), Most: AmountText(r.Most, r.Currency), Over: r.Amount > r.Left()}
}

// room fills in what limits leave for an action that has not begun. Only the
// commit point's own look counts; here it is for who decides.
func (d *Daemon) room(ctx context.Context, out *Detail, a action.Action) {
	switch a.State {
	case action.PendingApproval, action.Approved, action.Claimed:
	default:
		return
	}
	tool := d.toolOf(a)
	if tool == nil || len(tool.Limits) == 0 {
		return
	}
	found, err := d.cfg.Gate.Room(ctx, tool, a)
	if err != nil || tool.Definition != a.Definition {
		out.LimitsUnclear = true
		return
	}
	for _, r := range found {
		out.Limits = append(out.Limits, limitOf(r))
	}
}

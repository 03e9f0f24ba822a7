package verbs

import (
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
)

// Take is one reservation as a store makes it: the limit with the bounds of
// the window that a run falls in, which is the one of the commit point.
type Take struct {
	action.Limit
	Starts time.Time
	Ends   time.Time
}

// Takes puts what a run takes from its limits into the order in which every
// store locks windows. It fails with a *action.LimitError where not even an
// empty window has room, and with ErrInvalid for limits that make no sense.
func Takes(s action.Start, now time.Time) ([]Take, error) {
	if len(s.Limits) == 0 {
		return nil, nil
	}
	if s.Resend != nil {
		return nil, Invalid("attempt that is sent again and reserves again")
	}
	sorted := action.SortLimits(s.Limits)
	out := make([]Take, len(sorted))
	for i, l := range sorted {
		if err := l.Check(); err != nil {
			return nil, Invalid(err.Error())
		}
		if i > 0 && sorted[i-1].Name == l.Name && sorted[i-1].Scope == l.Scope && sorted[i-1].Currency == l.Currency {
			return nil, Invalid("limit that is taken from twice")
		}
		starts, ends, _ := l.Window.Bounds(now)
		out[i] = Take{Limit: l, Starts: starts, Ends: ends}
	}
	for _, t := range out {
		if t.Amount > t.Most {
			return nil, &action.LimitError{Name: t.Name}
		}
	}
	return out, nil
}

// Limited adds to the record of a start what it took from limits: their
// names, and commitments to the amounts, which are arguments.
func Limited(limits []action.Limit, f Facts, s Secrets) {
	if taken := limited(limits, f); taken != "" {
		s["limits"] = []byte(taken)
	}
}

// limited adds the names and returns the amounts; nothing where there are none.
func limited(limits []action.Limit, f Facts) string {
	if len(limits) == 0 {
		return ""
	}
	sorted := action.SortLimits(limits)
	var names []string
	for _, l := range sorted {
		if len(names) == 0 || names[len(names)-1] != l.Name {
			names = append(names, l.Name)
		}
	}
	f["limits"] = ListText(names)
	return array(sorted, func(l action.Limit) canon.Value {
		return canon.ObjectValue(pair("name", l.Name), pair("window", string(l.Window)), pair("scope", l.Scope),
			pair("currency", l.Currency), canon.Member{Name: "amount", Value: canon.IntValue(l.Amount)})
	})
}

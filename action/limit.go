package action

import (
	"fmt"
	"sort"
	"time"
)

// Window is how long a limit adds up before it starts anew. Windows are
// fixed, in UTC, on the database's clock.
type Window string

// The windows. A week begins on Monday.
const (
	Hour  Window = "hour"
	Day   Window = "day"
	Week  Window = "week"
	Month Window = "month"
)

// Bounds returns the window that t falls in: from start until before end. It
// reports false for an unknown window.
func (w Window) Bounds(t time.Time) (start, end time.Time, ok bool) {
	t = t.UTC()
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch w {
	case Hour:
		start = day.Add(time.Duration(t.Hour()) * time.Hour)
		return start, start.Add(time.Hour), true
	case Day:
		return day, day.AddDate(0, 0, 1), true
	case Week:
		start = day.AddDate(0, 0, -(int(t.Weekday())+6)%7)
		return start, start.AddDate(0, 0, 7), true
	case Month:
		start = time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
		return start, start.AddDate(0, 1, 0), true
	default:
		return time.Time{}, time.Time{}, false
	}
}

// MaxAmount is the largest amount and the largest limit: 2^53-1, so that no
// sum of them leaves 64 bits.
const MaxAmount = 1<<53 - 1

// Limit is what one run would take from one window of one limit. It is
// reserved at the commit point and held until the outcome is known.
type Limit struct {
	Name     string // of the catalog
	Window   Window
	Scope    string // RFC 8785 form of what the window is for, such as a principal
	Currency string // ISO 4217; "" for counts and for amounts that are no money
	Amount   int64  // of this run: calls, minor units or units
	Most     int64  // of the window, as the catalog now says
}

// Check reports a limit that no store can keep.
func (l Limit) Check() error {
	_, _, ok := l.Window.Bounds(time.Time{})
	switch {
	case l.Name == "" || !ok:
		return fmt.Errorf("limit %q with window %q", l.Name, l.Window)
	case l.Amount < 0 || l.Amount > MaxAmount || l.Most < 0 || l.Most > MaxAmount:
		return fmt.Errorf("limit %q with an amount out of range", l.Name)
	default:
		return nil
	}
}

// SortLimits returns limits in the one order in which every store locks
// windows, so that two runs never wait for each other in a circle.
func SortLimits(limits []Limit) []Limit {
	out := append([]Limit(nil), limits...)
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		switch {
		case a.Name != b.Name:
			return a.Name < b.Name
		case a.Scope != b.Scope:
			return a.Scope < b.Scope
		default:
			return a.Currency < b.Currency
		}
	})
	return out
}

// Budget is one window of a limit as it stands. Reserved + Posted <= Most
// always; Most is the limit that the last reservation was made under.
type Budget struct {
	Tenant   string
	Name     string
	Window   Window
	Scope    string
	Currency string
	Start    time.Time
	End      time.Time
	Most     int64
	Reserved int64 // of runs whose outcome is not known yet
	Posted   int64 // of runs that took effect, or may have
}

// BudgetFilter selects windows. Empty fields select everything.
type BudgetFilter struct {
	Tenant string
	Name   string
	Scope  string
	Past   bool // windows that are over, too
	Limit  int  // at most; 0 means 100
}

// Reservation is what one action took from one window.
type Reservation struct {
	Limit
	Start time.Time
	State ReservationState
	At    time.Time // of the last change
}

// ReservationState is where a reservation stands. Only Reserved moves.
type ReservationState string

// The states of a reservation.
const (
	Reserved ReservationState = "reserved" // the outcome is not known
	Posted   ReservationState = "posted"   // it counts
	Void     ReservationState = "void"     // it did not happen
)

// SettledReservation says what becomes of the reservations of an action that
// moves to a state with a result; "" leaves them as they are. Only a failure
// that is proved, or that an operator states, gives room back: the tool's own
// word that it failed does not.
func SettledReservation(to State, r *Result) ReservationState {
	switch to {
	case Succeeded, ReconciledSucceeded:
		return Posted
	case ReconciledFailed:
		return Void
	case Failed:
		if r != nil && r.Evidence == EvidenceProved {
			return Void
		}
		return Posted
	default:
		return ""
	}
}

// LimitError says which limit stands in the way. It wraps ErrOverLimit.
type LimitError struct{ Name string }

func (e *LimitError) Error() string { return ErrOverLimit.Error() + ": " + e.Name }

// Unwrap gives ErrOverLimit.
func (e *LimitError) Unwrap() error { return ErrOverLimit }

package replay

import (
	"context"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// Source is what a replay reads of a store.
type Source interface {
	// Actions lists rows, newest first, with their payloads.
	Actions(ctx context.Context, f action.Filter) ([]action.Action, error)
	// Records lists records, newest first.
	Records(ctx context.Context, f audit.Filter) ([]audit.Record, error)
}

// Scope says which calls are decided again.
type Scope struct {
	Tenant string    // "" for every tenant
	Since  time.Time // calls proposed before are left out; zero: none
	Until  time.Time // calls proposed from here on are left out; zero: none
	Most   int       // rows, and records of each kind, that are looked at; 0: all. A report that stopped there says so
	// Progress, if not nil, is told now and then how many calls are done.
	Progress func(done int)
}

// page is how much is asked of a source at once.
const page = 500

// Counts says how many calls there were of each kind.
type Counts struct {
	Calls        int `json:"calls"` // all of the below
	Same         int `json:"same"`
	Rules        int `json:"rules"`
	Terms        int `json:"terms"`
	Flips        int `json:"flips"`
	Runtime      int `json:"runtime"`
	Unreplayable int `json:"unreplayable"`
}

// Group is the changes that go from one answer to another.
type Group struct {
	Kind  Kind     `json:"kind"`
	Was   Answer   `json:"was"`
	Is    Answer   `json:"is"`
	Count int      `json:"count"`
	Tools []string `json:"tools"`
}

// Times is how often something came.
type Times struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Report is the diff of two policies over what was recorded.
type Report struct {
	Counts  Counts    `json:"counts"`
	Changes []Verdict `json:"changes"`       // flips and other terms, oldest first
	ByRule  []Group   `json:"byRule"`        // the same, by what they go from and to
	Void    []Verdict `json:"void"`          // open approvals that would be void, oldest first
	Why     []Times   `json:"why"`           // why calls are unreplayable
	Fired   []Times   `json:"fired"`         // the candidate's rules, by how many decisions they determined
	Silent  []string  `json:"silent"`        // its rules that determined none
	Cut     bool      `json:"cut,omitempty"` // older calls were left out, because there are too many
}

// ruled is an engine that can list its rules.
type ruled interface{ Rules() []string }

// Run decides what a source holds again. It fails where the source does.
func Run(ctx context.Context, from Source, c Candidate, s Scope) (Report, error) {
	t := NewTally()
	if err := t.rows(ctx, from, c, s); err != nil {
		return Report{}, err
	}
	for _, event := range []string{audit.ReadAllowed, audit.HandoffAllowed} {
		if err := t.reads(ctx, from, event, s); err != nil {
			return Report{}, err
		}
	}
	return t.Report(c.Engine), nil
}

func (t *Tally) rows(ctx context.Context, from Source, c Candidate, s Scope) error {
	for before, looked := "", 0; ; {
		rows, err := from.Actions(ctx, action.Filter{Tenant: s.Tenant, Limit: page, Before: before})
		if err != nil {
			return err
		}
		for _, a := range rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			if before, looked = a.ID, looked+1; s.Most > 0 && looked > s.Most {
				t.cut = true
				return nil
			}
			if a.CreatedAt.Before(s.Since) {
				return nil // rows come in the order in which they were made
			}
			if s.Holds(a.CreatedAt) {
				t.Add(c.Judge(ctx, a))
			}
		}
		if len(rows) < page {
			return nil
		}
		s.progress(t.counts.Calls)
	}
}

// Holds reports whether a time lies in the span.
func (s Scope) Holds(at time.Time) bool {
	return !at.Before(s.Since) && (s.Until.IsZero() || at.Before(s.Until))
}

func (s Scope) progress(done int) {
	if s.Progress != nil {
		s.Progress(done)
	}
}

// reads counts allowed calls that left a record and no row: their arguments
// are committed to and not kept.
func (t *Tally) reads(ctx context.Context, from Source, event string, s Scope) error {
	for before, looked := int64(0), 0; ; {
		records, err := from.Records(ctx, audit.Filter{Tenant: s.Tenant, Event: event, Limit: page, Before: before})
		if err != nil {
			return err
		}
		for _, r := range records {
			if before, looked = r.Seq, looked+1; s.Most > 0 && looked > s.Most {
				t.cut = true
				return nil
			}
			if r.At.Before(s.Since) {
				return nil
			}
			if s.Holds(r.At) {
				t.Miss(WhyRead, 1)
			}
		}
		if len(records) < page {
			return nil
		}
		s.progress(t.counts.Calls)
	}
}

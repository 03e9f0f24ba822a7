package replay

import (
	"cmp"
	"context"
	"slices"
	"strings"
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

// Tally is how often something came.
type Tally struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Report is the diff of two policies over what was recorded.
type Report struct {
	Counts  Counts    `json:"counts"`
	Changes []Verdict `json:"changes"` // flips and other terms, oldest first
	ByRule  []Group   `json:"byRule"`  // the same, by what they go from and to
	Void    []Verdict `json:"void"`    // open approvals that would be void, oldest first
	Why     []Tally   `json:"why"`     // why calls are unreplayable
	Fired   []Tally   `json:"fired"`   // the candidate's rules, by how many decisions they determined
	Silent  []string  `json:"silent"`  // its rules that determined none
}

// ruled is an engine that can list its rules.
type ruled interface{ Rules() []string }

// Run decides what a source holds again. It fails where the source does.
func Run(ctx context.Context, from Source, c Candidate, s Scope) (Report, error) {
	t := &tally{scope: s, why: map[string]int{}, fired: map[string]int{}}
	if err := t.rows(ctx, from, c); err != nil {
		return Report{}, err
	}
	for _, event := range []string{audit.ReadAllowed, audit.HandoffAllowed} {
		if err := t.reads(ctx, from, event); err != nil {
			return Report{}, err
		}
	}
	return t.report(c), nil
}

// tally collects verdicts, newest first.
type tally struct {
	scope   Scope
	counts  Counts
	changes []Verdict
	void    []Verdict
	why     map[string]int
	fired   map[string]int
}

func (t *tally) rows(ctx context.Context, from Source, c Candidate) error {
	for before := ""; ; {
		rows, err := from.Actions(ctx, action.Filter{Tenant: t.scope.Tenant, Limit: page, Before: before})
		if err != nil {
			return err
		}
		for _, a := range rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			before = a.ID
			if a.CreatedAt.Before(t.scope.Since) {
				return nil // rows come in the order in which they were made
			}
			if t.scope.holds(a.CreatedAt) {
				t.add(c.Judge(ctx, a))
			}
		}
		if len(rows) < page {
			return nil
		}
		t.progress()
	}
}

func (s Scope) holds(at time.Time) bool {
	return !at.Before(s.Since) && (s.Until.IsZero() || at.Before(s.Until))
}

func (t *tally) progress() {
	if t.scope.Progress != nil {
		t.scope.Progress(t.counts.Calls)
	}
}

func (t *tally) add(v Verdict) {
	t.counts.Calls++
	switch v.Kind {
	case Same:
		t.counts.Same++
	case Rules:
		t.counts.Rules++
	case Terms:
		t.counts.Terms++
	case Flip:
		t.counts.Flips++
	case Runtime:
		t.counts.Runtime++
	default:
		t.counts.Unreplayable++
		t.why[v.Why]++
	}
	if v.Kind == Flip || v.Kind == Terms {
		t.changes = append(t.changes, v)
	}
	if v.Void {
		t.void = append(t.void, v)
	}
	if v.Kind != Runtime {
		for _, r := range v.Is.Rules {
			t.fired[r]++
		}
	}
}

// reads counts allowed calls that left a record and no row: their arguments
// are committed to and not kept.
func (t *tally) reads(ctx context.Context, from Source, event string) error {
	for before := int64(0); ; {
		records, err := from.Records(ctx, audit.Filter{Tenant: t.scope.Tenant, Event: event, Limit: page, Before: before})
		if err != nil {
			return err
		}
		for _, r := range records {
			before = r.Seq
			if r.At.Before(t.scope.Since) {
				return nil
			}
			if t.scope.holds(r.At) {
				t.counts.Calls++
				t.counts.Unreplayable++
				t.why[WhyRead]++
			}
		}
		if len(records) < page {
			return nil
		}
		t.progress()
	}
}

func (t *tally) report(c Candidate) Report {
	slices.Reverse(t.changes)
	slices.Reverse(t.void)
	r := Report{Counts: t.counts, Changes: append([]Verdict{}, t.changes...), ByRule: groups(t.changes),
		Void: append([]Verdict{}, t.void...), Why: tallies(t.why), Fired: tallies(t.fired), Silent: []string{}}
	if listed, ok := c.Engine.(ruled); ok {
		for _, id := range listed.Rules() {
			if t.fired[id] == 0 {
				r.Silent = append(r.Silent, id)
			}
		}
	}
	return r
}

// tallies lists counts: the most first, then by name.
func tallies(counts map[string]int) []Tally {
	out := []Tally{}
	for name, n := range counts {
		out = append(out, Tally{name, n})
	}
	slices.SortFunc(out, func(a, b Tally) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	return out
}

// groups joins changes that go from the same answer to the same.
func groups(changes []Verdict) []Group {
	at, out := map[string]int{}, []Group{}
	for _, v := range changes {
		key := v.Was.key() + "\x00" + v.Is.key()
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, Group{Kind: v.Kind, Was: v.Was, Is: v.Is})
		}
		out[i].Count++
		if !slices.Contains(out[i].Tools, v.Tool) {
			out[i].Tools = append(out[i].Tools, v.Tool)
		}
	}
	for i := range out {
		slices.Sort(out[i].Tools)
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Was.key(), b.Was.key()), cmp.Compare(a.Is.key(), b.Is.key()))
	})
	return out
}

// key is different for different answers.
func (a Answer) key() string {
	step := ""
	if a.StepUp {
		step = "step_up"
	}
	parts := []string{a.Decision, a.Code, strings.Join(a.Rules, "\x01"), strings.Join(a.Requirements, "\x01"), a.TTL, step}
	return strings.Join(parts, "\x02")
}

package replay

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/policy"
)

// Tally joins verdicts to a report.
type Tally struct {
	counts  Counts
	changes []Verdict
	void    []Verdict
	why     map[string]int
	fired   map[string]int
	cut     bool
}

// NewTally returns an empty tally.
func NewTally() *Tally { return &Tally{why: map[string]int{}, fired: map[string]int{}} }

// Add counts a verdict. They come newest first.
func (t *Tally) Add(v Verdict) {
	if v.Kind == Unreplayable {
		t.Miss(v.Why, 1)
	} else {
		t.counts.Calls++
	}
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

// Miss counts calls that cannot be decided again.
func (t *Tally) Miss(why string, n int) {
	t.counts.Calls += n
	t.counts.Unreplayable += n
	t.why[why] += n
}

// Report is what was added, oldest first. Where the engine can list its rules,
// it names those that decided nothing.
func (t *Tally) Report(e policy.Engine) Report {
	r := Report{Counts: t.counts, Changes: append([]Verdict{}, t.changes...), Void: append([]Verdict{}, t.void...),
		Why: times(t.why), Fired: times(t.fired), Silent: []string{}, Cut: t.cut}
	slices.Reverse(r.Changes)
	slices.Reverse(r.Void)
	r.ByRule = groups(r.Changes)
	if listed, ok := e.(ruled); ok {
		for _, id := range listed.Rules() {
			if t.fired[id] == 0 {
				r.Silent = append(r.Silent, id)
			}
		}
	}
	return r
}

// times lists counts: the most first, then by name.
func times(counts map[string]int) []Times {
	out := []Times{}
	for name, n := range counts {
		out = append(out, Times{name, n})
	}
	slices.SortFunc(out, func(a, b Times) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
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

package yamlfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/catalog"
)

// limit builds one limit, or notes what is wrong with it. Numbers that are
// written must be greater than 0: a limit of nothing is a rule, and rules are
// policy.
func (r *reader) limit(name string, l limit) {
	field := join("limits", name)
	made := &catalog.Limit{Name: name, Window: action.Window(l.Window), Amounts: l.Amounts}
	for _, d := range l.Per {
		made.Per = append(made.Per, catalog.Dimension(d))
	}
	for _, n := range []struct {
		name string
		from *int64
		to   *int64
	}{{"calls", l.Calls, &made.Calls}, {"amount", l.Amount, &made.Amount}} {
		if n.from == nil {
			continue
		}
		if *n.from < 1 {
			r.wrong(join(field, n.name), "must be greater than 0")
		}
		*n.to = *n.from
	}
	if err := made.Check(); err != nil {
		for _, fault := range split(err) {
			at, text := field, fault.Error()
			if part, rest, ok := strings.Cut(text, ": "); ok && r.line(join(field, part)) != nil {
				at, text = join(field, part), rest
			}
			r.wrong(at, "%s", text)
		}
		return
	}
	r.limits[name] = made
}

// counts finds the limits that a tool counts against.
func (r *reader) counts(field string, all []counts) []catalog.LimitUse {
	var out []catalog.LimitUse
	for i, c := range all {
		r.counted[c.Use] = true
		made, ok := r.limits[c.Use]
		if !ok {
			r.wrong(fmt.Sprintf("%s[%d]", field, i), "there is no limit %q in this file, or it is wrong", c.Use)
			continue
		}
		out = append(out, catalog.LimitUse{Limit: made, Amount: c.Amount, Currency: c.Currency})
	}
	return out
}

// uncounted: a limit that no tool counts against would only look like one.
func (r *reader) uncounted() {
	for _, name := range slices.Sorted(maps.Keys(r.limits)) {
		if !r.counted[name] {
			r.wrong(join("limits", name), "no tool of this file counts against it")
		}
	}
}

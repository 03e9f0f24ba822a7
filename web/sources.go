package web

import (
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/web/display"
)

// spelled says amounts, quantities and moments as the reader says them.
func (s *site) spelled(read reading, rows []display.Row) map[string]string {
	masks := read.masks.PointersOnly()
	notes := s.reads.reader.Notes(read.args, read.moneyPairs(), rows, masks)
	if read.tool == nil {
		return notes
	}
	units := map[string]string{}
	for _, rule := range read.tool.Resolvers {
		if q, ok := rule.Resolver.(*resolve.Quantity); ok {
			units[rule.Into[resolve.RoleValue]] = q.Base()
		}
	}
	for _, row := range rows {
		n, whole := row.Value.Int64()
		if unit := units[row.Pointer]; unit != "" && whole && row.Value.Kind() == canon.Number && !masks.Masks(row.Pointer) {
			notes[row.Pointer] = s.reads.reader.Integer(n) + " " + unit
		}
	}
	return notes
}

// sources puts members that were looked up beside what they were looked up
// to: the rows of the consumed members go, and stand as the request of each
// row that they led to. Whatever does not fit this exactly keeps its own row.
func sources(tool *catalog.Tool, rows []display.Row) ([]display.Row, map[string][]sourceView) {
	from := map[string][]sourceView{}
	if tool == nil {
		return rows, from
	}
	at := make(map[string]display.Row, len(rows))
	for _, r := range rows {
		at[r.Pointer] = r
	}
	used := map[string]bool{}
	for _, rule := range tool.Resolvers {
		taken := consumed(rule, at)
		if len(taken) == 0 {
			continue
		}
		for _, into := range rule.Into {
			if r, found := at[into]; found && r.Requested.Absent && !r.Effective.Absent && changedBy(r, canon.ChangeResolved, rule.Name) {
				from[into] = append(from[into], taken...)
				for _, source := range rule.From {
					used[source] = true
				}
			}
		}
	}
	gone := func(r display.Row) bool { return used[r.Pointer] && r.Effective.Absent && !r.Requested.Absent }
	return slices.DeleteFunc(slices.Clone(rows), gone), from
}

// consumed returns what a rule was asked about, in the order of the pointers,
// or nothing where a part of it has no short row of its own.
func consumed(rule resolve.Rule, at map[string]display.Row) []sourceView {
	var pointers []string
	for _, p := range rule.From {
		pointers = append(pointers, p)
	}
	slices.SortFunc(pointers, strings.Compare)
	var out []sourceView
	for _, p := range slices.Compact(pointers) {
		r, found := at[p]
		switch {
		case !found: // the caller left it out
		case !r.Effective.Absent || r.Requested.Long || !changedBy(r, canon.ChangeConsumed, rule.Name):
			return nil
		default:
			out = append(out, sourceView{r.Name, r.Requested})
		}
	}
	return out
}

func changedBy(r display.Row, kind canon.ChangeKind, by string) bool {
	return len(r.Changes) == 1 && r.Changes[0].Kind == kind && r.Changes[0].By == by
}

// parted puts what is not compared before the run below what is.
func (p *proposalView) parted(tool *catalog.Tool) {
	if tool == nil || tool.DryRun == nil || len(tool.DryRun.Compare) == 0 {
		return
	}
	counts := func(r rowView) bool {
		return slices.ContainsFunc(tool.DryRun.Compare, func(c string) bool { return r.Pointer == c || strings.HasPrefix(r.Pointer, c+"/") })
	}
	var compared []rowView
	for _, r := range p.Preview {
		if counts(r) {
			compared = append(compared, r)
		} else {
			p.Beside = append(p.Beside, r)
		}
	}
	if p.Preview = compared; len(compared) == 0 {
		p.Preview, p.Beside = p.Beside, nil
	}
	p.Compared = len(p.Beside) > 0
}

package tables

import (
	"strconv"
	"strings"
)

// The most rows that one page of a listing has.
const (
	defaultPage = 100
	maxPage     = 1000
)

// filter collects the conditions of a listing. A condition has one $ for each
// place of its value.
type filter struct {
	conditions []string
	args       []any
}

func (f *filter) add(condition string, value any) {
	f.args = append(f.args, value)
	f.conditions = append(f.conditions, strings.ReplaceAll(condition, "$", "$"+strconv.Itoa(len(f.args))))
}

// equal is add, unless nothing is asked for.
func (f *filter) equal(condition, value string) {
	if value != "" {
		f.add(condition, value)
	}
}

// page is what comes behind the table of a listing, in an order, with what it
// is bound to. most below 1 is the default.
func (f *filter) page(order string, most int) (sql string, args []any) {
	if most < 1 {
		most = defaultPage
	}
	sql = order + " LIMIT $" + strconv.Itoa(len(f.args)+1)
	if len(f.conditions) > 0 {
		sql = "WHERE " + strings.Join(f.conditions, " AND ") + " " + sql
	}
	return sql, append(f.args, min(most, maxPage))
}

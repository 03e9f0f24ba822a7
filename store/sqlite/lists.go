package sqlite

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/audit"
)

// Records are found by their action and by their tenant in two lists, which
// are written for many records at once: an index of each would cost every
// commit a page. Who looks for records reads the list, and the records that
// are not in it yet.

// listStep is how many records may be missing in the lists after a commit.
const listStep = 128

// unlisted selects the records that are not in the lists.
const unlisted = "seq > (SELECT seq FROM event_listed)"

// ofAction selects the records of an action; it takes the id twice.
const ofAction = `seq IN (SELECT seq FROM event_of WHERE action_id = ?
	UNION ALL SELECT seq FROM event WHERE ` + unlisted + " AND action_id = ?)"

// enlist brings the lists up to the last record of the transaction.
func (t *tx) enlist() error {
	for _, sql := range []string{
		"INSERT OR FAIL INTO event_of (action_id, seq) SELECT action_id, seq FROM event WHERE " + unlisted + " AND action_id <> ''",
		"INSERT OR FAIL INTO event_in (tenant, seq) SELECT tenant, seq FROM event WHERE " + unlisted,
		"UPDATE event_listed SET seq = (SELECT coalesce(max(seq), 0) FROM event)",
	} {
		if _, err := t.exec(sql); err != nil {
			return fmt.Errorf("list the records: %w", err)
		}
	}
	return nil
}

// recordsSQL selects entries of the log, newest first. What was done to
// everybody is part of every tenant's log.
func recordsSQL(f audit.Filter) (sql string, args []any) {
	const newest = " ORDER BY seq DESC LIMIT ?"
	most := limit(f.Limit)
	var w where
	w.equal("event", f.Event)
	if f.Before > 0 {
		w.add("seq < ?", f.Before)
	}
	switch {
	case f.Action != "":
		w.add(ofAction, f.Action, f.Action)
		if f.Tenant != "" {
			w.add("tenant IN (?, '')", f.Tenant)
		}
		return "SELECT leaf FROM event " + w.sql() + newest, append(w.args, most)
	case f.Tenant == "":
		return "SELECT leaf FROM event " + w.sql() + newest, append(w.args, most)
	}
	own, everybody, late := w.inTenant(f.Tenant), w.inTenant(""), w.and(unlisted+" AND tenant IN (?, '')", f.Tenant)
	sql = "SELECT leaf FROM (" + own.part(fromList, newest) + " UNION ALL " + everybody.part(fromList, newest) +
		" UNION ALL " + late.part(fromRecords, newest) + ")" + newest
	for _, part := range []where{own, everybody, late} {
		args = append(append(args, part.args...), most)
	}
	return sql, append(args, most)
}

// entriesSQL selects records with their salts, oldest first.
func entriesSQL(sel audit.Selection) (sql string, args []any) {
	const oldest = " ORDER BY seq LIMIT ?"
	most := min(max(sel.Most, 1), audit.MaxEntries)
	var w where
	w.add("seq > ?", sel.From)
	if sel.Action != "" {
		w.add(ofAction, sel.Action, sel.Action)
		w.equal("tenant", sel.Tenant)
	}
	if sel.Action != "" || sel.Tenant == "" {
		return "SELECT seq, leaf, salt FROM event " + w.sql() + oldest, append(w.args, most)
	}
	own, late := w.inTenant(sel.Tenant), w.and(unlisted+" AND tenant = ?", sel.Tenant)
	sql = "SELECT seq, leaf, salt FROM (" + own.part(fromList, oldest) + " UNION ALL " + late.part(fromRecords, oldest) + ")" + oldest
	args = append(append(append(args, own.args...), most), late.args...)
	return sql, append(args, most, most)
}

// The two places where records of a tenant are looked for. A list is gone
// through in its order, and each record is looked up (the join is CROSS so
// that SQLite does it that way round; sqlite.org/optoverview.html §8.2).
const (
	fromList    = "event_in i CROSS JOIN event e USING (seq) "
	fromRecords = "event e "
)

// part is one of the selects that make an answer up, each with its own limit,
// so that no more is read than is listed.
func (w where) part(from, order string) string {
	return "SELECT * FROM (SELECT seq, leaf, salt FROM " + from + w.sql() + order + ")"
}

// inTenant adds a condition on the list of a tenant.
func (w where) inTenant(tenant string) where { return w.and("i.tenant = ?", tenant) }

// and returns the conditions with one more.
func (w where) and(condition string, args ...any) where {
	return where{text: append(append([]string(nil), w.text...), condition), args: append(append([]any(nil), w.args...), args...)}
}

package sqlite

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
)

// Rows in flight are found by an index that has no others: SQLite takes it
// where a condition is its own (sqlite.org/partialindex.html §3). A swift row,
// which began with its call, is not in it while it runs; those are found among
// the newest rows, or in a list where many have come since.
const (
	indexed = "(state = 'pending_approval' OR state = 'approved' OR state = 'claimed' OR state = 'uncertain' OR state = 'executing' AND swift = 0)"
	swift   = "SELECT seq FROM action WHERE seq > (SELECT seq FROM swift_from) AND state = 'executing' AND swift = 1 UNION ALL SELECT seq FROM running"

	// flying selects the rows in flight, atWork those of them that run.
	flying = "seq IN (SELECT seq FROM action WHERE " + indexed + " UNION ALL " + swift + ")"
	atWork = "seq IN (SELECT seq FROM action WHERE state = 'executing' AND " + indexed + " UNION ALL " + swift + ")"
)

// inState selects the rows in one state of those in flight, by its parameter.
func inState(s action.State) string {
	if s == action.Executing {
		return "state = ? AND " + atWork
	}
	return "state = ? AND " + indexed
}

// swiftRows is how many of the newest rows are not in the list while they run.
// The others are few: most have ended by then.
const swiftRows = 256

// slow lists rows that still run, so that the newest ones, among which the rest
// is looked for, stay few.
func (t *tx) slow() error {
	if _, err := t.exec("UPDATE swift_from SET seq = (SELECT max(seq) FROM action) - ?1 WHERE seq < (SELECT max(seq) FROM action) - ?1",
		swiftRows); err != nil {
		return fmt.Errorf("find the rows that run: %w", err)
	}
	return nil
}

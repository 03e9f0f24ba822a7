package verbs

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
)

// ErrFaults is returned for a store, or a backup, that is not as this program
// leaves it. The report beside it says what is wrong.
var ErrFaults = errors.New("the store has faults")

// ErrEarlier comes with ErrFaults where the one fault is that the store has
// the form of an earlier version: a migration mends it.
var ErrEarlier = errors.New("it has the form of an earlier version")

// maxFaults is how many faults a report names.
const maxFaults = 20

// Report is what a check found. Faults name rows by id and never hold what
// was stored in them.
type Report struct {
	Schema   int                  `json:"schema"` // the version of the file
	Known    int                  `json:"known"`  // the newest that this program knows
	Bytes    int64                `json:"bytes"`
	Actions  int                  `json:"actions"`
	States   map[action.State]int `json:"states"`
	Records  int64                `json:"records"`
	LastAt   time.Time            `json:"lastAt"` // of the last record; zero if there is none
	Restores int                  `json:"restores"`
	Faults   []string             `json:"faults"`
	More     int                  `json:"more"` // faults beyond those named
}

// Fault adds one fault.
func (r *Report) Fault(format string, args ...any) {
	if len(r.Faults) == maxFaults {
		r.More++
		return
	}
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// Restoration says what a restore did.
type Restoration struct {
	LastRecord int64     `json:"lastRecord"` // of the backup; what came after it is lost
	LastAt     time.Time `json:"lastAt"`     // of that record
	At         time.Time `json:"at"`         // of the restore
	Expired    int       `json:"expired"`    // rows that waited, were approved or claimed
	Uncertain  int       `json:"uncertain"`  // rows that were executing
	Epochs     int       `json:"epochs"`     // tools whose policy version has moved
	Replaced   string    `json:"replaced"`   // where the store of before is; "" if there was none
	Log        string    `json:"log"`        // the new name of the log
	LogBefore  string    `json:"logBefore"`  // the name that it had; "" if it had none
}

// Gap is what the backup does not know.
func (r *Restoration) Gap() Gap {
	return Gap{LastRecord: r.LastRecord, LastAt: r.LastAt, Log: r.Log, Before: r.LogBefore}
}

// CountCutOff counts a row that [CutOff] ended.
func (r *Restoration) CountCutOff(row action.Action) {
	if row.State == action.Uncertain {
		r.Uncertain++
	} else {
		r.Expired++
	}
}

// Err is ErrFaults where there are faults, and ErrEarlier with it.
func (r *Report) Err() error {
	switch {
	case len(r.Faults) == 1 && r.More == 0 && r.Schema < r.Known:
		return fmt.Errorf("%w: %w", ErrFaults, ErrEarlier)
	case len(r.Faults) > 0:
		return ErrFaults
	}
	return nil
}

// Earlier reports whether the store has the form of an earlier version, and
// notes that as a fault: rows that were not read are not vouched for.
func (r *Report) Earlier() bool {
	earlier := r.Schema < r.Known
	if earlier {
		r.Fault("its form is of version %d, this program's of %d: its rows are only checked after a migration", r.Schema, r.Known)
	}
	return earlier
}

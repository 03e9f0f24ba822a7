package action

import "time"

// Class decides how long the payload of an action is kept.
type Class byte

// The classes. Denied and suspended calls count as what they would have done.
const (
	ClassRead       Class = 1 + iota // changes nothing; handoffs, too
	ClassMutation                    // changes something
	ClassHighImpact                  // irreversible, financial, administrative or visible outside
)

// Classes lists the classes.
func Classes() []Class { return []Class{ClassRead, ClassMutation, ClassHighImpact} }

// String is the class as settings and records name it.
func (c Class) String() string {
	switch c {
	case ClassRead:
		return "reads"
	case ClassMutation:
		return "mutations"
	case ClassHighImpact:
		return "highImpact"
	default:
		return "unknown"
	}
}

// Class is the class of the action.
func (a Action) Class() Class {
	switch {
	case a.HighImpact:
		return ClassHighImpact
	case a.Mutation:
		return ClassMutation
	default:
		return ClassRead
	}
}

// Retention is how long payloads are kept, by class, from the day on that the
// action came. A class without an entry is kept until it is erased.
type Retention map[Class]time.Duration

// MinRetention is the least that payloads are kept.
const MinRetention = 24 * time.Hour

// Forgotten says what [Store.ForgetPayloads] has left to the keys.
type Forgotten struct {
	Actions int // whose payload went
	Records int // of calls without a row, whose salts went
	// Before is, by class, the start of the first day that is kept. The keys
	// of all days before may be destroyed, but for those of Held.
	Before map[Class]time.Time
	// Old is true where what was sealed before there were days by class is
	// past them all, too.
	Old  bool
	Held []HeldPayload
}

// HeldPayload is a payload that is past its time and whose action is not over.
type HeldPayload struct {
	Tenant    string
	ID        string
	Class     Class // 0 is for what is never forgotten
	CreatedAt time.Time
}

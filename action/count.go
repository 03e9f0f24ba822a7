package action

import "time"

// Count says how many open actions are in one state, and since when.
type Count struct {
	State  State
	Number int
	Oldest time.Time // when the one that has been in it longest came there
}

// Open lists the states in which something is still to happen.
func Open() []State {
	return []State{PendingApproval, Approved, Claimed, Executing, Uncertain}
}

// MinKeyRetention is how long idempotency keys are kept at least after their
// action has ended. A key that is forgotten is a new request, so it must
// outlive whatever a caller or provider may still repeat.
const MinKeyRetention = 30 * 24 * time.Hour

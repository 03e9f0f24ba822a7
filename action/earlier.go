package action

import "time"

// Earlier says what has happened before an action that is like it: a person
// who decides wants to know a first payment from a tenth, and a second one
// from a first.
type Earlier struct {
	Like      Series // of the same tool on exactly the same targets, whoever asked
	Same      Series // of those, the very same call for the same principal: same arguments
	Uncertain int    // of the same tool on the same targets, not settled yet
}

// Series counts actions that took effect, as far as is known.
type Series struct {
	Succeeded int
	Last      time.Time // when the newest of them ended; zero if none
	LastID    string
}

package action

import "errors"

// The refusals of a store. Every one leaves the database as it was; where a
// row exists, the method returns it beside the error, so that the caller can
// tell the truth about what won.
var (
	ErrNotFound   = errors.New("no such action")
	ErrState      = errors.New("the action is not in a state that allows this")
	ErrFence      = errors.New("another claim has taken the action over")
	ErrLate       = errors.New("the deadline has passed")
	ErrKeyTaken   = errors.New("the idempotency key is taken")
	ErrUncertain  = errors.New("an action with the same fingerprint is uncertain")
	ErrConsumed   = errors.New("the approval was used already")
	ErrStale      = errors.New("policy has moved since the decision")
	ErrDigest     = errors.New("the vote is for something else")
	ErrVoted      = errors.New("this person has voted already")
	ErrIneligible = errors.New("this person may not vote on the action")
	ErrPasskey    = errors.New("an account with a passkey votes with that only")
	ErrStepUp     = errors.New("this action takes a fresh proof of who decides")
	ErrOverLimit  = errors.New("a limit would be passed")
	ErrStopped    = errors.New("an operator has stopped this kind of action")
	ErrStanding   = errors.New("no such standing grant can be made or used")
	ErrOvertaken  = errors.New("another action has taken its place since")
)

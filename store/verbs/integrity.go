package verbs

import (
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// ErrTampered is returned instead of a row whose stored content is not what
// was decided on.
var ErrTampered = errors.New("the stored action was changed outside this program")

// ErrMismatch refuses a row whose arguments do not hash to its proposal hash.
var ErrMismatch = errors.New("the arguments do not hash to the proposal hash")

// Verify computes the proposal hash of a row again. A row without arguments
// and without a hash is a call that was denied before there was a snapshot.
func Verify(a action.Action) error {
	if !a.ErasedAt.IsZero() && a.Payload.Args == "" && a.State.Terminal() {
		return nil
	}
	err := rehash(a)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTampered, err)
	}
	return nil
}

func rehash(a action.Action) error {
	if a.Payload.Args == "" {
		if a.Hash == (snapshot.ProposalHash{}) && a.State == action.Denied {
			return nil
		}
		return ErrMismatch
	}
	args, err := snapshot.Thaw(a.Payload.Args)
	if err != nil {
		return ErrMismatch
	}
	hash := snapshot.Propose(a.Agent, a.Tool, args).Hash
	if a.Kind == action.KindHandoff {
		hash = snapshot.ProposeHandoff(a.Agent, a.Tool, args).Hash
	}
	if hash != a.Hash {
		return ErrMismatch
	}
	return nil
}

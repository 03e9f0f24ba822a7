package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-de4804fb/verbatim/keys"
)

// signEvery is how many records one signed checkpoint covers at most. Each costs
// two changes of the ledger and a signature; a proof waits until those before its
// record are hashed, which takes some milliseconds for so many.
const signEvery = 4000

// Sequencer grows the tree of a ledger and signs what it has become. Several
// may share one ledger. One goroutine uses it.
//
// It signs no head that is not durable in the ledger, and all heads of a
// ledger lie on one line: whatever is killed when, no two signed checkpoints
// contradict each other.
type Sequencer struct {
	ledger Ledger
	keys   *keys.Signer
	signed int64 // size of the latest checkpoint; -1 if that is not known
}

// NewSequencer makes a sequencer that signs with keys of the purpose
// keys.Checkpoints.
func NewSequencer(l Ledger, k *keys.Signer) (*Sequencer, error) {
	if l == nil || k == nil || k.Purpose() != keys.Checkpoints {
		return nil, errors.New("a sequencer needs a ledger and a key for checkpoints")
	}
	return &Sequencer{ledger: l, keys: k, signed: -1}, nil
}

// Turn adds every record that waits and signs a checkpoint where there is
// something new. It says how many it has added.
func (s *Sequencer) Turn(ctx context.Context) (added int, err error) {
	for {
		head, n, err := s.ledger.Sequence(ctx, signEvery)
		added += n
		if err == nil {
			err = s.sign(ctx, head)
		}
		if err != nil {
			return added, fmt.Errorf("sequence the log: %w", err)
		}
		if n < signEvery {
			return added, nil
		}
	}
}

// sign signs a head that has no checkpoint yet: also the one that a sequencer
// left behind which was killed before it could.
func (s *Sequencer) sign(ctx context.Context, head Head) error {
	if head.Size == 0 || s.signed == head.Size {
		return nil
	}
	origin, err := s.ledger.Origin(ctx)
	if err != nil {
		return err
	}
	if s.signed < 0 {
		latest, err := s.ledger.LatestCheckpoint(ctx)
		if err != nil {
			return err
		}
		if c, err := ReadUntrusted(latest); err == nil && c.Head == head && c.Origin == origin {
			s.signed = head.Size
			return nil
		}
	}
	c := Checkpoint{Origin: origin, Head: head}
	signed, err := c.Sign(s.keys)
	if err != nil {
		return err
	}
	if err := s.ledger.KeepCheckpoint(ctx, c, signed); err != nil {
		return err
	}
	s.signed = head.Size
	return nil
}

package verbatim

import (
	"bytes"
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// ahead is what is signed for a caller while the commit point of its action is
// on its way to the disk. None of it leaves before the store has said that the
// commit is durable, and then only what is of the very row that was stored.
// What was signed for a commit that failed goes nowhere.
type ahead struct {
	gate   *Gate
	of     *proposal
	signed atomic.Pointer[promised]
}

// promised is what is signed for a row that is being written.
type promised struct {
	leaf   []byte
	of     basis
	ready  chan struct{} // closed when signed is as it stays
	signed signed
}

// signed is a warrant with its deadline, and the receipt of its record; a text
// is nil where it could not be signed.
type signed struct {
	warrant []byte
	sendBy  time.Time
	receipt []byte
}

// signs has the store say what it is about to write, where something can be
// signed of it.
func (h *ahead) signs(ctx context.Context) func(action.Action) {
	if _, err := h.gate.origin.get(ctx, h.gate.cfg.Store); err != nil {
		return nil // whoever asks next says so; the store is not asked while it writes
	}
	return h.written
}

// written begins to sign. Everything is of the row and its record alone.
func (h *ahead) written(a action.Action) {
	if a.Leaf == nil {
		return
	}
	p := &promised{leaf: a.Leaf, of: basisOf(a, a.UpdatedAt), ready: make(chan struct{})} // not all of the row, which is large
	go h.sign(p)
	h.signed.Store(p)
}

// sign signs on a goroutine of its own. A text that could not be signed is
// signed again later, with its error; so is one whose signing panicked.
func (h *ahead) sign(p *promised) {
	defer func() {
		_ = recover()
		close(p.ready)
	}()
	var s signed
	s.warrant, s.sendBy, _ = h.warrant(context.Background(), p.of)
	s.receipt = h.gate.receipted(Outcome{}, p.leaf).Receipt
	p.signed = s
}

func (h *ahead) warrant(ctx context.Context, of basis) (text []byte, sendBy time.Time, err error) {
	w := warrantOf(h.of.audience, h.of.tool, of, warrant.Mutation)
	text, err = h.gate.signWarrant(ctx, w)
	return text, w.SendBy, err
}

// given is the warrant of a row that has passed the commit point, with its
// deadline and the receipt of its record: what was signed ahead, if it is of
// that row, or else what is signed now. A receipt may be nil.
func (h *ahead) given(ctx context.Context, a action.Action) (text []byte, sendBy time.Time, receipt []byte, err error) {
	of := basisOf(a, a.UpdatedAt)
	if p := h.signed.Load(); p != nil && p.of == of && bytes.Equal(p.leaf, a.Leaf) {
		<-p.ready
		if s := p.signed; s.warrant != nil {
			return s.warrant, s.sendBy, s.receipt, nil
		}
	}
	if text, sendBy, err = h.warrant(ctx, of); err != nil {
		return nil, time.Time{}, nil, err
	}
	return text, sendBy, h.gate.receipted(Outcome{}, a.Leaf).Receipt, nil
}

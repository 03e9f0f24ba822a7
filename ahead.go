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

// promised is what will be signed for a row that is being written.
type promised struct {
	leaf []byte
	both func() signed
}

// signed is a warrant, what it says, and the receipt of its record; a text is
// nil where it could not be signed.
type signed struct {
	says    warrant.Warrant
	warrant []byte
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
	if a.Leaf != nil {
		h.signed.Store(&promised{a.Leaf, beside(func() signed { return h.sign(a) })})
	}
}

func (h *ahead) sign(a action.Action) (s signed) {
	s.says = h.warrantOf(a)
	s.warrant, _ = h.gate.signWarrant(context.Background(), s.says) // if not now, then again, with its error
	s.receipt = h.gate.receipted(Outcome{}, a.Leaf).Receipt
	return s
}

func (h *ahead) warrantOf(a action.Action) warrant.Warrant {
	return warrantOf(h.of.audience, h.of.tool, a, warrant.Mutation, a.UpdatedAt)
}

// given is the warrant of a row that has passed the commit point, with its
// deadline and the receipt of its record: what was signed ahead, if it is of
// that row, or else what is signed now. A receipt may be nil.
func (h *ahead) given(ctx context.Context, a action.Action) (text []byte, sendBy time.Time, receipt []byte, err error) {
	w := h.warrantOf(a)
	if p := h.signed.Load(); p != nil && bytes.Equal(p.leaf, a.Leaf) {
		if s := p.both(); s.says == w && s.warrant != nil {
			return s.warrant, w.SendBy, s.receipt, nil
		}
	}
	if text, err = h.gate.signWarrant(ctx, w); err != nil {
		return nil, time.Time{}, nil, err
	}
	return text, w.SendBy, h.gate.receipted(Outcome{}, a.Leaf).Receipt, nil
}

// beside runs produce on a goroutine of its own. What it returns waits for what
// it has made, and may be called once; that is zero where it panicked.
func beside[T any](produce func() T) func() T {
	made := make(chan T, 1)
	go func() {
		var x T
		defer func() {
			_ = recover()
			made <- x
		}()
		x = produce()
	}()
	return func() T { return <-made }
}

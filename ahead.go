package verbatim

import (
	"bytes"
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// ahead is what is signed for a caller while the commit point of its action is
// on its way to the disk. None of it leaves before the store has said that the
// commit is durable, and then only what is of the very row that was stored.
// What was signed for a commit that failed goes nowhere.
type ahead struct {
	gate     *Gate
	warrant  func() []byte   // nil: none was foreseen
	foreseen warrant.Warrant // what that is of
	receipt  atomic.Pointer[promised]
}

// promised is the receipt of a record that is being written.
type promised struct {
	leaf []byte
	text func() []byte
}

// maxAhead is how much older than its commit point a warrant may be. It ends
// that much sooner.
const maxAhead = time.Second

// ahead begins to sign what the caller of a new row will be given. Of that row
// all is known but the moment of its commit point, so the warrant is of the
// moment of the proposal: its deadline is earlier, never later.
func (g *Gate) ahead(ctx context.Context, p *proposal, a action.Action) *ahead {
	h := &ahead{gate: g}
	if g.hand == nil || a.Fence != 0 {
		return h
	}
	issuer, err := g.origin.get(ctx, g.cfg.Store)
	if err != nil {
		return h // whoever asks next says so
	}
	a.Attempt, a.Fence = 1, 1
	w := warrantOf(p.audience, p.tool, a, warrant.Mutation, p.now)
	w.Issuer = issuer
	h.foreseen, h.warrant = w, beside(func() []byte {
		text, err := w.Sign(g.cfg.Warrants)
		if err != nil {
			return nil
		}
		return text
	})
	return h
}

// warrantFor is the warrant of a row that has passed the commit point: the one
// that was signed ahead, if it says the same and is not too old.
func (h *ahead) warrantFor(ctx context.Context, p *proposal, a action.Action) (text []byte, sendBy time.Time, err error) {
	w := warrantOf(p.audience, p.tool, a, warrant.Mutation, a.UpdatedAt)
	if h.warrant != nil && h.covers(w) {
		if text = h.warrant(); text != nil {
			return text, h.foreseen.SendBy, nil
		}
	}
	text, err = h.gate.signWarrant(ctx, w)
	return text, w.SendBy, err
}

// covers compares all that a warrant says with what was signed ahead. That may
// be older by maxAhead.
func (h *ahead) covers(w warrant.Warrant) bool {
	age := w.IssuedAt.Sub(h.foreseen.IssuedAt)
	w.Issuer, w.IssuedAt, w.SendBy = h.foreseen.Issuer, h.foreseen.IssuedAt, h.foreseen.SendBy
	return age >= 0 && age <= maxAhead && w == h.foreseen
}

// written is told by the store of the row that it is about to commit.
func (h *ahead) written(a action.Action) {
	if h.gate.cfg.Receipts == nil || a.Leaf == nil {
		return
	}
	g, leaf := h.gate, a.Leaf
	h.receipt.Store(&promised{leaf, beside(func() []byte { return g.sign(context.Background(), leaf, audit.KeptSynced) })})
}

// receiptFor is the receipt of a record that is stored: the one that was signed
// ahead, if it is of that record. It is nil where there is none, or where it
// could not be signed: the outcome is true without.
func (h *ahead) receiptFor(leaf []byte) []byte {
	if r := h.receipt.Load(); r != nil && bytes.Equal(r.leaf, leaf) {
		return r.text()
	}
	return nil
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
